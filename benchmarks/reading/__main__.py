"""Blind reading of summaries: sheets for readers, and the count of their marks.

    python -m benchmarks.reading sheets OUTPUTS.jsonl --sheets DIR --keys KEYS.json
        [--readers 2] [--shared 0.5] [--per-genre 50] [--seed 1]
    python -m benchmarks.reading tally KEYS.json MARKS.jsonl ... [--compare OURS THEIRS]
        [--format text|markdown|json]

``docs/reading.md`` says what OUTPUTS and MARKS hold and how a line is read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.reading import sheets, tally
from sumfit.errors import SumfitError
from sumfit.evaluation.table import render


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line.

    Args:
        arguments: The words after the program's name; those of the process if left out.

    Returns:
        Exit code.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("sheets", help="make blind sheets, and their keys")
    making.add_argument("outputs", type=Path)
    making.add_argument("--sheets", type=Path, required=True, help="folder that readers get")
    making.add_argument("--keys", type=Path, required=True, help="file that they do not get")
    making.add_argument("--readers", type=int, default=2)
    making.add_argument("--shared", type=float, default=0.5, help="share of texts that all read")
    making.add_argument("--per-genre", type=int, default=50)
    making.add_argument("--seed", type=int, default=1)
    counting = commands.add_parser("tally", help="count the marks")
    counting.add_argument("keys", type=Path)
    counting.add_argument("marks", type=Path, nargs="+", help="a file a reader")
    counting.add_argument("--compare", nargs=2, action="append", default=[], metavar="SYSTEM")
    counting.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    options = parser.parse_args(arguments)
    try:
        if options.command == "sheets":
            plan = sheets.Plan(options.readers, options.shared, options.per_genre, options.seed)
            n_texts = sheets.write(
                sheets.read_outputs(options.outputs), plan, options.sheets, options.keys
            )
            print(f"{n_texts} texts on {options.readers} sheets in {options.sheets}")
        else:
            reading = tally.Reading.load(options.keys, options.marks)
            print(render(tally.tables(reading, options.compare), options.format))
    except SumfitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
