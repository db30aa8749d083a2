"""Markdown as plain text.

Owns what counts as Markdown. A single star, underscore or number sign is none, and backticks stay:
people write them in plain text too.
"""

from __future__ import annotations

import re

from sumfit.cleaning.blocks import as_sentence, has_words, joined, masked, unmasked

__all__ = ["clean_markdown"]

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:={3,}|-{3,})[ \t]*")
_RULE = re.compile(r"[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*")
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\[\]\n]{1,200}\]:[ \t]+\S+")
_LABELLED = re.compile(r"[ ]{0,3}\[[^\[\]\n]{1,200}\]:(?=[ \t])")
_IMAGE = re.compile(r"!\[[^\[\]\n]*\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]\n]*\])")
_LINK = re.compile(
    r"\[([^\[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"
)
_REFERENCE = re.compile(r"\[([^\[\]\n]*)\]\[[^\[\]\n]*\]")
_TRACKED = re.compile(
    r"[ \t]?\(\[(?:#\d{1,9}|[0-9a-f]{7,40}|@[\w-]{1,40})\]\([^()\n]*\)\)"
)  # "([#12](...))"
_LABEL = re.compile(r"\[([^\[\]\n^]{1,200})\](?![\[(:])")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*])\1(?![\w*])")
_UNDERSCORES = re.compile(r"(?<![\w_])(_{1,3})(?=[^\s_])([^_\n]*[^\s_])\1(?![\w_(.])")
_STRONG = re.compile(r"\*\*(?=[^\s*])[^*\n]*[^\s*]\*\*")
_STRONG_LINE = re.compile(r"[ ]{0,3}\*\*([^\s*][^*\n]{0,60}[^\s*.!?,;])\*\*[ \t]*")
_STRUCK = re.compile(r"~~(?=[^\s~])[^~\n]*~~")
_NOTE = re.compile(r"\[\^[\w-]{1,40}\]:?")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!>|~-])")
_ALERT = re.compile(r"\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*")
_STOP = "\ufdd5"  # a full stop that a heading gets if anything follows
_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")


def clean_markdown(text: str, *, sure: bool = False) -> str:
    """Take the text out of Markdown; other text stays as it is.

    Code blocks, tables, images and struck-out text are left out, unless there is nothing else;
    of a link its label stays; headings become sentences of their own.

    Args:
        text: The text.
        sure: It is Markdown.

    Returns:
        The text; unchanged if it is no Markdown.
    """
    hidden = masked(text)
    lines = hidden.split("\n")
    if not (sure or _is_markdown(hidden, lines)):
        return text
    blocks = _blocks(lines, with_code=False)
    if not has_words(_inline("\n".join(blocks))):
        blocks = _blocks(lines, with_code=True)
    if sum(map(has_words, blocks)) == 1:  # a heading alone stays a title
        blocks = [block.removesuffix(_STOP) for block in blocks]
    found = _inline("\n".join(blocks).replace(_STOP, "."))
    labels = {mark.group().strip(" []:").lower() for mark in map(_LABELLED.match, lines) if mark}
    found = _LABEL.sub(
        lambda label: label.group(1) if label.group(1).lower() in labels else label.group(), found
    )
    return unmasked(found).strip() if has_words(found) else text


def _is_markdown(text: str, lines: list[str]) -> bool:
    if _STRONG.search(text) or _LINK.search(text) or _IMAGE.search(text) or _STRUCK.search(text):
        return True
    before = ""
    for line in lines:
        if _HEADING.match(line) or _FENCE.match(line):
            return True
        if before and _UNDERLINE.fullmatch(line) and len(line.strip()) >= len(before) // 2:
            return True
        if "|" in line and "|" in before and _TABLE_RULE.fullmatch(line):
            return True
        before = line.strip()
    return False


def _blocks(lines: list[str], *, with_code: bool) -> list[str]:
    """Lines without block marks; each heading and table row a sentence between empty lines."""
    found: list[str] = []
    fence, in_table = "", False
    longest = _longest_fences(lines)
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        opened = mark.group(1) if mark else ""
        if opened and not fence and longest[number].get(opened[0], 0) >= len(opened):
            fence = opened
        elif fence:
            if mark and mark.group(1).startswith(fence) and not line.strip(" `~\r"):
                fence = ""
            elif with_code:
                found.append(line)
        elif mark:
            continue
        elif "|" in line and (in_table or _starts_table(lines, number)):
            in_table = True
            if with_code and not _TABLE_RULE.fullmatch(line):
                found += ["", joined([", ".join(_cells(line)), "."]), ""]
        else:
            in_table = False
            found += _line(line, found)
    return found


def _line(line: str, before: list[str]) -> list[str]:
    if heading := _HEADING.match(line):
        return [_ended(line[heading.end() :].rstrip(" #\t\r"))]
    if strong := _STRONG_LINE.fullmatch(line.rstrip("\r")):
        return [_ended(strong.group(1))]
    if _UNDERLINE.fullmatch(line.rstrip("\r")) and before and before[-1].strip():
        before[-1] = _ended(before[-1])
        return [""]
    if _RULE.fullmatch(line.rstrip("\r")) or _DEFINITION.match(line):
        return [""]
    quote = _QUOTE.match(line)
    return [line[quote.end() :] if quote else line]


def _ended(heading: str) -> str:
    sentence = as_sentence(heading)
    return sentence[:-1] + _STOP if len(sentence) > len(heading.strip()) else heading


def _longest_fences(lines: list[str]) -> list[dict[str, int]]:
    """For each line the longest fence of each kind below it, so that unclosed ones are known."""
    longest: dict[str, int] = {}
    found = []
    for line in reversed(lines):
        found.append(longest)
        mark = _FENCE.match(line)
        if mark and len(mark.group(1)) > longest.get(mark.group(1)[0], 0):
            longest = {**longest, mark.group(1)[0]: len(mark.group(1))}
    return found[::-1]


def _starts_table(lines: list[str], number: int) -> bool:
    below = lines[number + 1].rstrip("\r") if number + 1 < len(lines) else ""
    return "|" in below and _TABLE_RULE.fullmatch(below) is not None


def _cells(row: str) -> list[str]:
    return [cell for cell in map(str.strip, row.strip().strip("|").split("|")) if cell]


def _inline(text: str) -> str:
    text = _TRACKED.sub("", _IMAGE.sub("", text))
    text = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", text))
    text = _STRUCK.sub("", text)
    for _ in range(2):  # one kind of emphasis in the other
        text = _UNDERSCORES.sub(_plain, _EMPHASIS.sub(r"\2", text))
    return _ESCAPE.sub(r"\1", _ALERT.sub("", _NOTE.sub("", text)))


def _plain(emphasis: re.Match[str]) -> str:
    content: str = emphasis.group(2)
    is_name = emphasis.group(1) == "__" and content.isidentifier() and content.islower()
    return emphasis.group() if is_name else content
