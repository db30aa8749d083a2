"""Wiki markup (MediaWiki, and the headings and macros of Confluence and Jira) as plain text.

Owns what counts as wiki markup.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import has_words, joined, masked, unmasked, without_between

__all__ = ["clean_wiki"]

_HEADING = re.compile(r"(?m)^(={2,6})[ \t]*([^=\n][^\n]{0,300}?)[ \t]*\1[ \t]*$")
_JIRA_HEADING = re.compile(r"(?m)^h[1-6]\.[ \t]+(\S.*)$")
_MACRO = re.compile(r"\{(code|noformat|panel|quote|color)(?::[^{}\n]{0,200})?\}")
_BOLD = re.compile(r"'{2,5}(?=[^\s'])([^'\n]*(?:'[^'\n]+)*)'{2,5}")
_FILE = re.compile(
    r"\[\[(?:File|Image|Category|Media):[^\[\]\n]*(?:\[\[[^\[\]\n]*\]\][^\[\]\n]*)*\]\]"
)
_LINK = re.compile(r"\[\[([A-Za-z:#][^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_OUTSIDE = re.compile(r"\[(?:https?:)?//[^\s\[\]]+(?:\s([^\[\]\n]*))?\]")
_REFERENCE = re.compile(r"<ref[^<>]*/>|<ref[^<>]*>[^<]*</ref>", re.IGNORECASE)
_BEHAVIOUR = re.compile(r"__[A-Z]{3,20}__")
_LIST = re.compile(r"^[*#:;]+[ \t]*")
_CALL = re.compile(r"\{\{[^{}]*\}\}")
_MOST_DEPTH = 6  # of templates in each other


def clean_wiki(text: str, *, sure: bool = False) -> str:
    """Take the text out of wiki markup; other text stays as it is.

    Templates, tables, references, files and categories are left out; of a link its label stays;
    headings and list items become sentences of their own.

    Args:
        text: The text.
        sure: It is wiki markup.

    Returns:
        The text; unchanged if it is no wiki markup or nothing would be left.
    """
    hidden = masked(text)
    if not (sure or _is_wiki(hidden)):
        return text
    found = without_between(_REFERENCE.sub("", hidden), "<!--", "-->")
    for _ in range(_MOST_DEPTH):
        if (smaller := _CALL.sub("", found)) == found:
            break
        found = smaller
    found = without_between(found, "{|", "|}")
    found = without_between(without_between(found, "{code", "{code}"), "{noformat", "{noformat}")
    found = _FILE.sub("", found)
    found = _LINK.sub(lambda link: link.group(2) or link.group(1).partition("#")[0], found)
    found = _OUTSIDE.sub(lambda link: link.group(1) or "", found)
    found = _BEHAVIOUR.sub("", _MACRO.sub("", found))
    found = _BOLD.sub(r"\1", found)
    found = _HEADING.sub(r"\n\2\n", _JIRA_HEADING.sub(r"\n\1\n", found))
    blocks: list[str] = []
    is_open = False  # the last block may go on
    for line in found.split("\n"):
        item = _LIST.sub("", line).strip()
        if line[:1] in ("*", "#", ":", ";") or not is_open:
            blocks.append(item)
        else:
            blocks[-1] = f"{blocks[-1]} {item}".strip()
        is_open = bool(item)
    cleaned = unmasked(joined(blocks))
    return cleaned if has_words(cleaned) else text


def _is_wiki(text: str) -> bool:
    if "[[" in text:
        links = [link for _, link in zip(range(50), _LINK.finditer(text), strict=False)]
        if any("|" in link.group() for link in links) or _FILE.search(text) or len(links) > 1:
            return True
    if _HEADING.search(text) or _JIRA_HEADING.search(text):
        return True
    return "'''" in text and any(bold.group().startswith("'''") for bold in _BOLD.finditer(text))
