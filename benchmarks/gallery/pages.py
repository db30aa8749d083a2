"""The pages made of lines, marks and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from benchmarks.gallery.lines import Mark, Text

START = "<!-- methods: python -m benchmarks.gallery -->"
END = "<!-- end of methods -->"
_UNITS = {"chars": "characters", "bytes": "bytes", "words": "words"}
_INTRO = """# Gallery

What the model inside makes of {n} texts that were written for this page, good and bad, as
`python -m benchmarks.gallery` made it with `{model}`, sumfit {version}. Nothing was picked: each
text was summarised once, with nothing but its limit, and each line stands here. One reader, a
language model, not a person, read every line beside its text: **{good} of {read}** can be used as
they are{unread}. That shows what kinds of fault there are; how often they come is measured on far
more texts, see the README's results and [the default model](model-card.md).

What the rules on [truth](truth.md) saw is given as *rules*. In front of each line stands its text.
"""


def gallery_page(
    texts: Sequence[Text], made: Mapping[str, Any], marks: Mapping[tuple[str, str], Mark]
) -> str:
    """Write the gallery.

    Args:
        texts: The texts, those of a kind beside each other.
        made: As `benchmarks.gallery.lines.summarise` gave it.
        marks: What a reader said.

    Returns:
        Markdown.
    """
    lines = made["lines"]
    found = [marks.get((one.name, lines[one.name]["text"])) for one in texts]
    read = [mark for mark in found if mark is not None]
    n_unread = len(texts) - len(read)
    parts = [
        _INTRO.format(
            n=len(texts),
            model=made["model"],
            version=made["version"],
            good=sum(mark.is_good for mark in read),
            read=len(read),
            unread=f"; {n_unread} have not been read yet" if n_unread else "",
        )
    ]
    both = zip(texts, found, strict=True)
    for kind, group in groupby(both, key=lambda pair: pair[0].kind):
        parts.append(f"## {kind.capitalize()}\n")
        parts += [_entry(one, lines[one.name], mark) for one, mark in group]
    return "\n".join(parts)


def _entry(one: Text, line: Mapping[str, Any], mark: Mark | None) -> str:
    source = "\n>\n".join(f"> {_plain(part)}" for part in one.text.splitlines() if part.strip())
    unit = _UNITS.get(line["unit"], line["unit"])
    length = f"{line['length']} of {line['limit']} {unit}"
    if mark is None:
        verdict = "not read yet"
    else:
        why = f": {_plain(mark.why)}" if mark.why else ""
        verdict = f"{'good' if mark.is_good else '**bad**'}{why}"
    doubts = f" *rules: {_plain('; '.join(line['doubts']))}*" if line["doubts"] else ""
    return f"{source}\n\n**{_plain(line['text'])}** ({length}) {verdict}.{doubts}\n"


def _plain(text: str) -> str:
    """Text that Markdown takes as it is."""
    return re.sub(r"([\\`*_\[\]<>#|&])", r"\\\1", text)


def methods_table(figures: Mapping[str, Any]) -> str:
    """Write the table of methods.

    Args:
        figures: As `benchmarks.gallery.methods.measure_methods` gave it.

    Returns:
        Markdown.
    """
    head = ("call", "ms", "used, %", "complete, %", "no doubt, %", "proved, %", "same, %")
    rows = [head, tuple("---" for _ in head)]
    for name, row in figures["methods"].items():
        shown = name if " " in name and "=" not in name else f"`{name}`"
        values = (row[key] for key in ("ms", "used", "complete", "undoubted", "proved", "same"))
        rows.append((shown, *("-" if value is None else str(value) for value in values)))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return (
        f"{table}\n\n{figures['texts']} texts of the [gallery](gallery.md), `{figures['model']}`, "
        f"sumfit {figures['version']}; milliseconds are the median of one text at a time on one "
        "machine, to compare the rows by.\n"
    )


def with_table(page: str, table: str) -> str:
    """Put the table into its place.

    Args:
        page: The page, which has the two marks.
        table: Markdown.

    Returns:
        The page.
    """
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table}{END}{after}"
