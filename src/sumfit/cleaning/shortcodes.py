"""Shortcodes: ``[name key="value"] ... [/name]`` of page builders, BBCode, and ``{{< name >}}``.

Owns what counts as one. Brackets that people write, such as ``[1]`` and ``[sic]``, stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sumfit.cleaning.blocks import has_words

__all__ = ["clean_shortcodes"]

_CODE = re.compile(r"\[(/?)([A-Za-z][\w-]{0,40})((?:=|\s)[^\[\]\n]{0,2000})?\s?/?\]")
_SETTING = re.compile(r"\A(?:=|.*\w=[\"'\w])")
_HUGO = re.compile(r"\{\{[<%][^{}\n]{0,2000}[>%]\}\}")
_ITEM = re.compile(r"[ \t]{0,8}\[\*\][ \t]{0,8}")
_OTHERS = frozenset(("quote", "code", "img", "youtube", "video", "media", "attach", "s", "strike"))
_LINES = frozenset(("list", "ul", "ol", "li", "table", "tr", "hr", "h1", "h2", "h3"))
_LIQUID_LINE = re.compile(r"(?m)^[ \t]*\{%[^{}\n]{0,2000}%\}[ \t]*$")


def clean_shortcodes(text: str, *, sure: bool = False) -> str:
    """Take shortcodes out and leave what stands between them; other text stays as it is.

    What stands in a ``[quote]`` of a forum is another one's, and goes as ``[code]``, ``[img]`` and
    struck-out text do, unless nothing else is left; an item of a ``[list]`` gets a line.

    Args:
        text: The text.
        sure: Take every name in brackets for one.

    Returns:
        The text without shortcodes; unchanged if nothing would be left.
    """
    if "[" not in text and "{" not in text:
        return text
    codes = list(_CODE.finditer(text))
    closed = {_name(code) for code in codes if code.group(1)}
    has_sure_one = bool(closed) or any(_SETTING.match(code.group(3) or "") for code in codes)

    def is_code(code: re.Match[str]) -> bool:
        name, settings = _name(code), code.group(3) or ""
        is_link = text[code.end() : code.end() + 1] in ("(", ":")  # in Markdown
        if is_link and not code.group(1):
            return False
        if sure or name in closed or _SETTING.match(settings):
            return True
        return has_sure_one and "_" in name

    codes = [code for code in codes if is_code(code)]
    own = _between(text, codes, has_others=False)
    found = own if has_words(own) else _between(text, codes, has_others=True)
    if "list" in closed:
        found = _ITEM.sub("\n- ", found)
    found = _LIQUID_LINE.sub("", _HUGO.sub("", found))
    if found == text or not has_words(found):
        return text
    return found.strip()


def _name(code: re.Match[str]) -> str:
    return code.group(2).lower()


def _between(text: str, codes: Sequence[re.Match[str]], *, has_others: bool) -> str:
    """What stands between shortcodes; within quotes, code and so on too, or not."""
    place, depth, inside, kept = 0, 0, "", []
    n_ends = Counter(_name(code) for code in codes if code.group(1))
    for code in codes:
        name = _name(code)
        if depth == 0:
            kept += [text[place : code.start()], "\n" if "_" in name or name in _LINES else ""]
        if code.group(1):
            n_ends[name] -= 1
            depth -= name == inside and depth > 0
        elif name == (inside if depth else name) and name in _OTHERS and not has_others:
            if n_ends[name] > depth:  # else it is never closed
                depth, inside = depth + 1, name
        place = code.end()
    return "".join(kept) + text[place:]
