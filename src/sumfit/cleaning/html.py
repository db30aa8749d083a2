"""HTML and its character references as plain text.

Owns what counts as HTML, which elements are content, and which start a new sentence. One pass over
the tags with regular expressions that never look further than the next ``<``, so unclosed and
nested tags cost no more than others (the parser of the standard library takes quadratic time on
them in several releases of Python).
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from html.entities import html5

from sumfit.cleaning.blocks import has_words, joined, masked, unmasked, without_between

__all__ = ["clean_entities", "clean_html", "clean_page", "is_only_tags"]

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd mark q samp small span "
    "strong sub sup time tt u var wbr center".split()
)
_BLOCKS = frozenset(
    "address article blockquote body br caption dd details div dl dt fieldset figure h1 h2 h3 h4 "
    "h5 h6 header hgroup hr html label legend li main ol p picture pre section summary "
    "table tbody tfoot "
    "thead tr ul".split()
)
# What is left out with everything in it: code, menus, forms, what was struck out.
_LEFT_OUT = frozenset(
    "aside audio button canvas datalist del dialog embed figcaption footer form head iframe map "
    "menu nav noscript object s script select strike style svg template textarea video".split()
)
_SINGLE = frozenset("area base br col hr img input link meta param source track wbr".split())
_KNOWN = _INLINE | _BLOCKS | _LEFT_OUT | _SINGLE | {"td", "th", "title"}
_ALONE = frozenset("br hr img p li div meta link".split())  # tags that need no closing one

_TAG = re.compile(
    r"""<(/?)([A-Za-z][A-Za-z0-9]*)(?=[\s/>])(?:[^<>"']|"[^"<]*"|'[^'<]*')*>"""
    r"""|<(/?)([A-Za-z][A-Za-z0-9]*)(?=[\s/>])[^<>]*>"""
)
_DECLARATION = re.compile(r"<(?:!doctype|\?xml)\b[^<>]*>", re.IGNORECASE)
_START = re.compile(r"\s*<(?:!doctype\s|\?xml\s|html[\s>])", re.IGNORECASE)
_RAW = re.compile(r"<(script|style)(?=[\s/>])", re.IGNORECASE)
_RAW_END = {
    name: re.compile(rf"</{name}(?=[\s/>])[^<>]*>", re.IGNORECASE) for name in ("script", "style")
}
_BROKEN_TAG = re.compile(
    r"</?(?:a|b|br|div|em|i|img|li|p|script|span|strong|td|ul)\b[^<>\n]{0,200}\Z"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ABUTS = re.compile(r"[^\W_]|<")
_FEWEST_UNCLOSED = 4
_SPACES = re.compile(r"\s+")
_BLANKS = re.compile(r"[ \t\r\f\v]+")
_FOOTNOTE = re.compile(r"\[\d{1,3}\]|\[edit\]")
_MOST_LINKED = 0.6  # a block with a larger share of its letters in links is a menu
_LONGEST_LINK = 3  # words


def clean_page(text: str, *, sure: bool = False) -> str:
    """As `clean_html`, of a whole page alone: one that begins with a doctype or ``<html>``.

    Args:
        text: The text.
        sure: It is HTML.

    Returns:
        The text without tags; unchanged if it is no page or nothing would be left.
    """
    return clean_html(text, sure=sure) if sure or _START.match(text) else text


def clean_html(text: str, *, sure: bool = False) -> str:
    """Take the text out of HTML; other text stays as it is.

    Scripts, styles, menus, forms, footers and struck-out text are left out; of a page that has
    ``<main>`` or ``<article>`` the rest is too. Headings, paragraphs, list items and table cells
    become sentences of their own. What merely looks like a tag (``List<string>``, ``a < b``,
    ``<3``) stays.

    Args:
        text: The text.
        sure: It is HTML, so one tag is enough.

    Returns:
        The text without tags; unchanged if it is no HTML or nothing would be left.
    """
    if "<" not in text:
        return text
    hidden = masked(text)
    is_commented = 0 <= hidden.find("<!--") < hidden.find("-->")
    if not (sure or is_commented or _START.match(hidden) or _has_pair(hidden)):
        return text
    found = _text_of(hidden)
    return unmasked(found) if has_words(found) else text


def clean_entities(text: str, *, sure: bool = False) -> str:
    """Put characters in place of character references, such as ``&amp;`` and ``&#39;``.

    Args:
        text: The text.
        sure: No difference.

    Returns:
        The text with the characters; what only looks like a reference stays.
    """
    if "&" not in text or not _ENTITY.search(text):
        return text
    hidden = masked(text)
    found = _ENTITY.sub(_character, hidden)
    if "&amp;" in hidden:  # feeds often hold references that were written twice
        found = _ENTITY.sub(_character, found)
    return unmasked(found) if has_words(found) else text


def is_only_tags(text: str) -> bool:
    """Tell whether a text is nothing but HTML tags.

    Args:
        text: Any text.

    Returns:
        The verdict; ``False`` for a text without any.
    """
    if not text.lstrip().startswith("<"):
        return False
    rest = _TAG.sub(lambda tag: "" if _named(tag)[1] in _KNOWN else tag.group(), text)
    return rest != text and not has_words(rest)


def _character(reference: re.Match[str]) -> str:
    name = reference.group()[1:]
    if not name.startswith("#") and name not in html5:
        return reference.group()
    return html.unescape(reference.group()).replace("\xa0", " ")


def _has_pair(text: str) -> bool:
    """Return whether a known tag is opened and closed, or an empty one stands twice.

    Several of one name that are never closed will do if words or tags follow at once: names of tags
    in a sentence have spaces around them.
    """
    opened: set[str] = set()
    abutting: Counter[str] = Counter()
    alone = 0
    for tag in _TAG.finditer(text):
        closes, name = _named(tag)
        if name not in _KNOWN:
            continue
        if closes and name in opened:
            return True
        if closes:
            continue
        before = text[tag.start() - 1 : tag.start()]
        if not (before.isalnum() or before in ("_", ":")):  # not of a C++ template
            opened.add(name)
            abutting[name] += _ABUTS.match(text, tag.end()) is not None
            if abutting[name] >= _FEWEST_UNCLOSED:
                return True
            alone += name in _ALONE
            if alone > 1 or (name in _ALONE and not text[: tag.start()].strip()):
                return True
            if "=" in tag.group() and name in _SINGLE:
                return True
    return False


def _named(tag: re.Match[str]) -> tuple[bool, str]:
    closes, name = tag.group(1, 2) if tag.group(2) else tag.group(3, 4)
    return bool(closes), name.lower()


def _text_of(page: str) -> str:
    spaces = _SPACES if _START.match(page) else _BLANKS  # Markdown around tags needs its lines
    page = without_between(page, "<!--", "-->")
    page = page.replace("<![CDATA[", "").replace("]]>", "")
    page = _DECLARATION.sub("", _without_raw(page))
    tags = [
        (tag.start(), tag.end(), closes, name)
        for tag in _TAG.finditer(page)
        for closes, name in [_named(tag)]
        if name in _KNOWN
    ]
    counts = Counter(name for _, _, closes, name in tags if closes)
    main = next((name for name in ("main", "article") if counts[name]), None)
    found = joined(spaces.sub(" ", block) for block in _blocks(page, tags, main))
    if main and not has_words(found):
        found = joined(spaces.sub(" ", block) for block in _blocks(page, tags, None))
    return _FOOTNOTE.sub("", _BROKEN_TAG.sub("", found)).rstrip()


def _without_raw(page: str) -> str:
    """Take out scripts and styles, whose content is no HTML; one that is never closed ends all."""
    kept, place = [], 0
    while tag := _RAW.search(page, place):
        kept.append(page[place : tag.start()])
        end = _RAW_END[tag.group(1).lower()].search(page, tag.end())
        if end is None:
            return "".join(kept)
        place = end.end()
    return "".join(kept) + page[place:]


def _blocks(page: str, tags: list[tuple[int, int, bool, str]], main: str | None) -> Iterator[str]:
    """Texts of the blocks that are content, in order; the page's title if there are none."""
    n_closers = Counter(name for _, _, closes, name in tags if closes)
    left_out: list[str] = []
    n_left_out: Counter[str] = Counter()
    parts: list[str] = []
    title, place, n_main, n_linked, in_link, is_empty = "", 0, 0, 0, False, True
    for start, end, closes, name in [*tags, (len(page), len(page), False, "hr")]:
        content = page[place:start]
        place = end
        is_shown = not left_out and (main is None or n_main > 0)
        if content and is_shown:
            parts.append(content)
            n_linked += len(content.strip()) if in_link else 0
        elif content and left_out[-1:] == ["head"]:
            title = title or _SPACES.sub(" ", content).strip()
        if name in _BLOCKS:
            block = "".join(parts).strip(" ,\n\r\t")
            if block and not _is_menu(block, n_linked):
                is_empty = False
                yield block
            parts, n_linked = [], 0
        elif is_shown and name == "q":
            parts.append('"')
        elif is_shown and name in ("td", "th") and not closes and "".join(parts[-2:]).strip():
            parts.append(", ")
        in_link = not closes if name == "a" else in_link
        if name == main:
            n_main += -1 if closes else 1
        elif closes:
            n_closers[name] -= 1
            while n_left_out[name]:
                n_left_out[last := left_out.pop()] -= 1
                if last == name:
                    break
        elif name in _LEFT_OUT and n_closers[name] > n_left_out[name]:
            left_out.append(name)
            n_left_out[name] += 1
    if is_empty and title:
        yield title


def _is_menu(block: str, n_linked: int) -> bool:
    """Return whether a block is a link to elsewhere rather than something said."""
    if n_linked <= _MOST_LINKED * len(block):
        return False
    return len(block.split()) <= _LONGEST_LINK and block[-1] not in ".!?"
