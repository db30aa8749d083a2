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
_QUOTED_SETTING = re.compile(r".*\w=[\"'“”‘’]")
_HUGO = re.compile(r"\{\{[<%][^{}\n]{0,2000}[>%]\}\}")
_ITEM = re.compile(r"[ \t]{0,8}\[\*\][ \t]{0,8}")
_OTHERS = frozenset(("quote", "code", "img", "youtube", "video", "media", "attach", "s", "strike"))
_CELLS = ("[/td]", "[/th]")
_KNOWN = frozenset(
    """
    b i u s strike sub sup size color colour font center left right justify align indent url link
    email img quote code spoiler hr list ul ol li table tr td th h1 h2 h3 user youtube video audio
    media attach gallery playlist caption embed
    """.split()
)
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
    codes = _codes(text, list(_CODE.finditer(text)), sure=sure)
    closed = {_name(code) for code in codes if code.group(1)}
    own = _between(text, codes, has_others=False)
    found = own if has_words(own) else _between(text, codes, has_others=True)
    if "list" in closed:
        found = _ITEM.sub("\n- ", found)
    found = _LIQUID_LINE.sub("", _HUGO.sub("", found))
    if found == text or not has_words(found):
        return text
    return found.strip()


def _codes(text: str, codes: Sequence[re.Match[str]], *, sure: bool) -> list[re.Match[str]]:
    """Those that are codes: of a known name, with a setting in quotes, or closed in order."""
    closed = {_name(code) for code in codes if code.group(1)}

    def is_sure(code: re.Match[str]) -> bool:
        name, settings = _name(code), code.group(3) or ""
        if sure or _QUOTED_SETTING.match(settings):
            return True
        if "_" in name:
            return name in closed
        return name in _KNOWN and (name in closed or _SETTING.match(settings) is not None)

    has_sure_one = any(map(is_sure, codes))

    found, opened = set[int](), list[int]()
    sure_names = set[str]()
    for n, code in enumerate(codes):
        name = _name(code)
        if not code.group(1) and text[code.end() : code.end() + 1] in ("(", ":"):
            continue  # a link in Markdown
        if is_sure(code) or (has_sure_one and "_" in name):
            found.add(n)
            sure_names.add(name)
        elif code.group(1) and name in sure_names:
            found.add(n)
        elif not code.group(1):
            opened.append(n)
        elif opened and _name(codes[opened[-1]]) == name:
            found |= {opened.pop(), n}
        else:
            opened.clear()
    return [code for n, code in enumerate(codes) if n in found]


def _name(code: re.Match[str]) -> str:
    return code.group(2).lower()


def _between(text: str, codes: Sequence[re.Match[str]], *, has_others: bool) -> str:
    """What stands between shortcodes; within quotes, code and so on too, or not."""
    place, depth, inside, kept = 0, 0, "", []
    n_ends = Counter(_name(code) for code in codes if code.group(1))
    for code in codes:
        name = _name(code)
        if depth == 0:
            kept += [text[place : code.start()], _gap(text, code)]
        if code.group(1):
            n_ends[name] -= 1
            depth -= name == inside and depth > 0
        elif name == (inside if depth else name) and name in _OTHERS and not has_others:
            if n_ends[name] > depth:  # else it is never closed
                depth, inside = depth + 1, name
        place = code.end()
    return "".join(kept) + text[place:]


def _gap(text: str, code: re.Match[str]) -> str:
    """What stands in place of a code."""
    name = _name(code)
    if name == "list" and code.group(1):
        return "\n\n"  # what follows is no item's
    if "_" in name or name in _LINES:
        return "\n"
    is_next_cell = text[max(code.start() - 5, 0) : code.start()].lower() in _CELLS
    return " " if is_next_cell else ""
