"""``sumfit "text"``: one text in, its summary out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from typing import Annotated

import typer

from sumfit.cli.commands import COMMANDS
from sumfit.cli.help import SHORT_HELP
from sumfit.cli.options import LengthFlags, ModelFlags, SummaryFlags, choice, with_flags
from sumfit.cli.settings import SettingsFlags
from sumfit.cli.terminal import as_flag, check_utf8, not_utf8
from sumfit.errors import BudgetError, ConfigError
from sumfit.hypothesis import Summary
from sumfit.jobs.records import json_line, record_of
from sumfit.text.language import is_foreign, language_name
from sumfit.text.printable import printable

__all__ = ["read_text", "text"]

_SHORT = 60  # characters of a text that an example repeats


@with_flags(length=LengthFlags, summary=SummaryFlags, model=ModelFlags, settings=SettingsFlags)
def text(
    text: Annotated[
        str | None, typer.Argument(help="The text; standard input if left out or -.")
    ] = None,
    *,
    format: Annotated[
        str, choice("The summary, or everything that is known.", ("text", "json"))
    ] = "text",
    length: LengthFlags,
    summary: SummaryFlags,
    model: ModelFlags,
    settings: SettingsFlags,
) -> None:
    """Summarise one text.

    sumfit "A long text ..." --max-chars 63

    sumfit "A long text ..." --max-words 4,8,12

    sumfit --preset seo-title --n-best 3 < article.txt

    Several limits with --n-best give lines of limit, tab and summary. One that cannot be met gives
    an empty line, or a record with an error (json); the others come through, and the exit code
    tells at the end.
    """
    if format not in ("text", "json", "jsonl"):
        raise ConfigError(f"--format must be text or json, was {format!r}")
    limits = length.keywords()
    if any(isinstance(value, list) for value in limits.values()):
        limits["on_error"] = "return"
    source = read_text(text)
    if not limits:
        if text is None and not source.strip():
            print(SHORT_HELP, file=sys.stderr)
            raise typer.Exit(2)
        raise BudgetError(
            "no length limit was given; give --max-chars, --max-words or --preset, for example: "
            + _with_limit(text)
        )
    result = model.load(n_workers=1)(source, **limits, **summary.keywords())
    results = result if isinstance(result, list) else [result]
    for one in results:
        has_label = len(results) > 1 and len(one.alternatives) > 0
        _show(one, format, label=f"{one.limit}\t" if has_label else "")
    errors = [one.error for one in results if one.error is not None]
    for message in dict.fromkeys(error.text(as_flag) for error in errors):
        print(f"error: {printable(message)}", file=sys.stderr)
    if errors:
        raise typer.Exit(errors[0].exit_code)


def _with_limit(text: str | None) -> str:
    """A command line to copy, for a text that was given without a limit."""
    if text is None or text == "-":
        return "sumfit --max-chars 60 < article.txt"
    if len(text) > _SHORT or not text.isprintable():
        text = "A long text ..."
    quoted = shlex.quote(text) if set(text) & set('"\\$`!') else f'"{text}"'
    if text.startswith("-") or text in COMMANDS:
        return f"sumfit --max-chars 60 -- {quoted}"
    return f"sumfit {quoted} --max-chars 60"


def read_text(text: str | None) -> str:
    """The text of an argument, or all of standard input.

    Args:
        text: The argument; ``None`` and ``-`` mean standard input.

    Returns:
        The text.

    Raises:
        InputError: If argument or standard input is not UTF-8.
        ConfigError: If there is no text at all.
    """
    if text is not None and text != "-":
        check_utf8(text, "the text")
        return text
    if sys.stdin is None or (text is None and sys.stdin.isatty()):
        raise ConfigError('give a text, as in: sumfit "A long text ..." --max-chars 63')
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8("standard input", data, error) from error


def _show(summary: Summary, format: str, *, label: str = "") -> None:
    if format != "text":
        print(json_line(record_of(summary)))
        return
    for one in (summary, *summary.alternatives):
        print(f"{label}{one.text}")
    for note in _notes(summary):
        print(f"note: {note}", file=sys.stderr)


def _notes(summary: Summary) -> Iterator[str]:
    """What somebody should know who sees the text alone."""
    if summary.cleaned:
        yield f"cleaned of {', '.join(summary.cleaned)} (--no-clean leaves all in)"
    if is_foreign(summary.language):
        yield f"the text is in {language_name(summary.language or '')}; summaries are in English"
    if summary.added:
        n = len(summary.added)
        facts = "a further fact stands" if n == 1 else f"{n} further facts stand"
        yield f"{facts} behind the model's line (--fill single adds none)"
    if summary.origin == "cut":
        yield "no summary fits, so this is a cut of the source"
    elif summary.source_selected is not None:
        read = summary.source_selected
        yield (
            f"the model read the {read.n_sentences} most important sentences of "
            f"{read.of_sentences} (--long lead reads from the beginning)"
        )
    elif summary.source_truncated:
        yield "the text is longer than the model reads; its end was not seen"
