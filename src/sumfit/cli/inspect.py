"""``sumfit inspect "text"``: the graph behind a summary, as wide as the terminal."""

from __future__ import annotations

import json
import shutil
import sys
from typing import Annotated, Any

import typer

from sumfit.cli.options import LengthFlags, ModelFlags, SummaryFlags, with_flags
from sumfit.cli.settings import SettingsFlags
from sumfit.cli.text import read_text
from sumfit.errors import ConfigError
from sumfit.pipeline.drawing import render

__all__ = ["inspect"]

_SHOWN = "What is shown"
_DEFAULT = {"max_chars": 80}


@with_flags(length=LengthFlags, summary=SummaryFlags, model=ModelFlags, settings=SettingsFlags)
def inspect(
    text: Annotated[
        str | None, typer.Argument(help="The text; standard input if left out or -.")
    ] = None,
    words: Annotated[
        int,
        typer.Option(help="Words listed at each vertex.", min=1, max=10, rich_help_panel=_SHOWN),
    ] = 3,
    links: Annotated[
        int,
        typer.Option(help="Links listed at each vertex.", min=0, max=10, rich_help_panel=_SHOWN),
    ] = 2,
    min_prob: Annotated[
        float,
        typer.Option(
            help="Least probability of a link in --json, from 0 to 1.", rich_help_panel=_SHOWN
        ),
    ] = 0.02,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
    *,
    length: LengthFlags,
    summary: SummaryFlags,
    model: ModelFlags,
    settings: SettingsFlags,
) -> None:
    """Show what the model predicts for a text, and the path that the summary takes.

    Without a length, that of a summary of at most 80 characters.

    sumfit inspect "A long text ..." --max-words 8

    sumfit inspect "A long text ..." --max-chars 60 --json
    """
    if not 0 <= min_prob <= 1:  # click's own range lets nan through
        raise ConfigError(f"min_prob must be between 0 and 1, was {min_prob}")
    keywords: dict[str, Any] = {**(length.keywords() or _DEFAULT), **summary.keywords()}
    found = model.load(n_workers=1).inspect(read_text(text), **keywords)
    if as_json:
        facts = found.to_dict(n_words=words, min_prob=min_prob)
        print(json.dumps(facts, ensure_ascii=False, allow_nan=False))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(render(found, n_words=words, n_links=links, width=width))
