"""The gallery of outputs, good and bad, and what each method costs, on texts written for it.

    python -m benchmarks.gallery [--model DIR] [--render] [--no-methods]

Summarises the texts of ``texts.jsonl``, writes the lines to ``lines.json``, measures the methods
into ``methods.json``, and writes ``docs/gallery.md`` and the table of ``docs/choosing.md`` from
them. What a reader said of a line stands in ``marks.jsonl`` by text and line: it stays while the
line stays, and a line that nobody has read yet is shown as such. ``--render`` writes the pages
alone, for example after marks were added.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import sumfit
from benchmarks.gallery.lines import FOLDER, read_marks, read_texts, summarise
from benchmarks.gallery.methods import measure_methods
from benchmarks.gallery.pages import gallery_page, methods_table, with_table

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> None:
    """Make lines, figures and pages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, help="model directory; the embedded one if left out")
    parser.add_argument("--render", action="store_true", help="write the pages alone")
    parser.add_argument("--no-methods", action="store_true", help="leave the methods' figures")
    arguments = parser.parse_args()
    texts = read_texts()
    if not arguments.render:
        fit = sumfit.Summarizer.from_pretrained(arguments.model)
        write("lines.json", summarise(fit, texts))
        if not arguments.no_methods:
            write("methods.json", measure_methods(fit, texts))
    lines = json.loads((FOLDER / "lines.json").read_text(encoding="utf-8"))
    marks = read_marks()
    (DOCS / "gallery.md").write_text(gallery_page(texts, lines, marks), encoding="utf-8")
    figures = json.loads((FOLDER / "methods.json").read_text(encoding="utf-8"))
    choosing = DOCS / "choosing.md"
    page = choosing.read_text(encoding="utf-8")
    choosing.write_text(with_table(page, methods_table(figures)), encoding="utf-8")
    unread = [t.name for t in texts if (t.name, lines["lines"][t.name]["text"]) not in marks]
    if unread:
        print(f"{len(unread)} lines that nobody has read: add them to marks.jsonl, then --render")
        for name in unread:
            print(json.dumps({"name": name, "line": lines["lines"][name]["text"]}))


def write(name: str, value: object) -> None:
    """Write a file of results.

    Args:
        name: Its name.
        value: JSON types.
    """
    text = json.dumps(value, ensure_ascii=False, indent=1)
    (FOLDER / name).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
