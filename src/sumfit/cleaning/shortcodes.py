"""Shortcodes of page builders and forums: ``[name key="value"] ... [/name]`` and ``{{< name >}}``.

Owns what counts as one. Brackets that people write, such as ``[1]`` and ``[sic]``, stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_shortcodes"]

_CODE = re.compile(r"\[(/?)([A-Za-z][\w-]{0,40})((?:=|\s)[^\[\]\n]{0,2000})?\s?/?\]")
_SETTING = re.compile(r"\A(?:=|.*\w=[\"'\w])")
_HUGO = re.compile(r"\{\{[<%][^{}\n]{0,2000}[>%]\}\}")
_LIQUID_LINE = re.compile(r"(?m)^[ \t]*\{%[^{}\n]{0,2000}%\}[ \t]*$")


def clean_shortcodes(text: str, *, sure: bool = False) -> str:
    """Take shortcodes out and leave what stands between them; other text stays as it is.

    What stands in a ``[quote]`` of a forum is another one's, and goes, unless nothing else is left.

    Args:
        text: The text.
        sure: Take every name in brackets for one.

    Returns:
        The text without shortcodes; unchanged if nothing would be left.
    """
    if "[" not in text and "{" not in text:
        return text
    codes = list(_CODE.finditer(text))
    closed = {code.group(2) for code in codes if code.group(1)}
    has_sure_one = bool(closed) or any(_SETTING.match(code.group(3) or "") for code in codes)

    def is_code(code: re.Match[str]) -> bool:
        name, settings = code.group(2), code.group(3) or ""
        if text[code.end() : code.end() + 1] in ("(", ":"):  # a link in Markdown
            return False
        if sure or name in closed or _SETTING.match(settings):
            return True
        return has_sure_one and "_" in name

    codes = [code for code in codes if is_code(code)]
    own = _between(text, codes, has_quotes=False)
    found = own if has_words(own) else _between(text, codes, has_quotes=True)
    found = _LIQUID_LINE.sub("", _HUGO.sub("", found))
    if found == text or not has_words(found):
        return text
    return found.strip()


def _between(text: str, codes: Sequence[re.Match[str]], *, has_quotes: bool) -> str:
    """What stands between shortcodes; within quotes too, or not."""
    place, depth, kept = 0, 0, []
    n_ends = sum(code.group(1) == "/" and code.group(2) == "quote" for code in codes)
    for code in codes:
        if depth == 0:
            kept += [text[place : code.start()], "\n" if "_" in code.group(2) else ""]
        if code.group(2) == "quote" and not has_quotes:
            if code.group(1):
                n_ends -= 1
                depth = max(0, depth - 1)
            elif n_ends > depth:  # else it is never closed
                depth += 1
        place = code.end()
    return "".join(kept) + text[place:]
