"""``sumfit data``: check and filter files, write titles, read marks, pack a corpus."""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from sumfit.cli.logs import log_to_stderr
from sumfit.errors import ConfigError

__all__ = [
    "app",
    "check",
    "filter_",
    "lexicon",
    "marks",
    "pack",
    "start_weights",
    "titles",
    "tokenizer",
]

app = typer.Typer(
    add_completion=False,
    rich_markup_mode="rich",
    no_args_is_help=True,
    help="Check and pack training data.",
    context_settings={"help_option_names": ["--help", "-h"]},
)

RecipeFile = Annotated[Path, typer.Argument(help="Recipe file (TOML).")]
Overrides = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE...", help="Settings to change, such as data_dir=DIR."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="What to write.")]


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Files of text-summary pairs.")],
    source: Annotated[str, typer.Option(help="Column of the source.")] = "source",
    summary: Annotated[str, typer.Option(help="Column of the summary.")] = "summary",
    summaries: Annotated[str, typer.Option(help="Column of several summaries.")] = "summaries",
    summary_lines: Annotated[
        list[Path] | None,
        typer.Option(
            help="Where FILES hold sources one a line: the file of their summaries; once for each."
        ),
    ] = None,
) -> None:
    """Print counts, length histograms, overlaps between files and suspicious rows.

    sumfit data check train.jsonl valid.jsonl

    sumfit data check train.src --summary-lines train.tgt
    """
    from sumfit.data.checking import check_files, overlaps
    from sumfit.data.readers import Columns

    columns = Columns(source, summary, summaries)
    if summary_lines and columns != Columns():
        raise ConfigError(
            f"files of --summary-lines have no columns, was {source}, {summary}, {summaries}; "
            "leave out --source, --summary and --summaries"
        )
    checks = check_files(files, columns=columns, summary_lines=summary_lines or ())
    for result in checks:
        for line in result.lines():
            print(line)
    for line in overlaps(checks):
        print(line)
    for result in checks:
        if not result.n_pairs and not result.error:
            print(f"error: {result.name} has no pair that can be used", file=sys.stderr)
    if not all(result.n_pairs and not result.error for result in checks):
        raise typer.Exit(1)


@app.command("filter")
def filter_(
    files: Annotated[list[Path], typer.Argument(help="Files of text-summary pairs.")],
    output: Output,
    new_words: Annotated[
        int, typer.Option(help="Content words a summary may have beyond its text.", min=0)
    ] = 1,
    source: Annotated[str, typer.Option(help="Column of the source.")] = "source",
    summary: Annotated[str, typer.Option(help="Column of the summary.")] = "summary",
    summaries: Annotated[str, typer.Option(help="Column of several summaries.")] = "summaries",
) -> None:
    """Keep the pairs whose summary follows from its text, as JSON lines; say why others go.

    Headlines In Title Case are put into the case of their text.

    sumfit data filter news.jsonl.xz -o supported/news.jsonl
    """
    from sumfit.data.filtering import FilterOptions, PairFilter, filter_files
    from sumfit.data.readers import Columns

    judge = PairFilter(FilterOptions(new_words=new_words))
    filter_files(files, output, judge, columns=Columns(source, summary, summaries))
    for line in judge.report.lines():
        print(line)


@app.command()
def titles(
    model: Annotated[Path, typer.Argument(help="Checkpoint of a model with a scorer.")],
    file: Annotated[Path, typer.Argument(help="JSON lines with the texts, field 'source'.")],
    output: Output,
    style: Annotated[str, typer.Option(help="Style that the model is told.")] = "",
    n_titles: Annotated[int, typer.Option(help="Titles of each text.", min=1, max=7)] = 2,
    least_logp: Annotated[
        float, typer.Option(help="Least mean log-probability of a piece, in nats.")
    ] = -0.5,
    batch_size: Annotated[int, typer.Option(help="Texts at once.", min=1)] = 1024,
    device: Annotated[str, typer.Option(help="Torch device; the best there is by default.")] = "",
) -> None:
    """Let a model's scorer write titles for texts that have none, and keep the supported ones.

    sumfit data titles runs/dat-default/best texts.jsonl -o written.jsonl --style news
    """
    from sumfit.training.distil import WriteOptions, write_pairs

    options = WriteOptions(
        style=style, n_titles=n_titles, least_logp=least_logp, batch_size=batch_size
    )

    def show(n_done: int, n_all: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{n_done:,} of {n_all:,} titles\x1b[K", end="", file=sys.stderr)

    report = write_pairs(model, file, output, options, device=device, on_progress=show)
    for line in report.lines():
        print(line)


@app.command()
def marks(
    file: Annotated[Path, typer.Argument(help="JSON lines with marked candidates.")],
    corpus: Annotated[Path, typer.Argument(help="Packed corpus that holds their pairs.")],
    output: Output,
) -> None:
    """Turn candidates that readers have marked into lists to train on (data.lists of a recipe).

    Each line has the fields source, summary (what an editor would print), candidates, and fit
    (true or false for each candidate).

    sumfit data marks marked.jsonl runs/dat-default-read/corpus -o runs/marks
    """
    from sumfit.training.nbest.marked import write_marked_lists

    for line in write_marked_lists(file, corpus, output).lines():
        print(line)


@app.command()
def tokenizer(
    recipe: RecipeFile,
    output: Output,
    overrides: Overrides = None,
    max_pairs: Annotated[
        int, typer.Option(help="Pairs of each set that are read at most.")
    ] = 200_000,
) -> None:
    """Learn a tokenizer from the training texts of a recipe, in all their text profiles."""
    from sumfit.training.prepare import train_tokenizer
    from sumfit.training.recipe import load_recipe

    log_to_stderr(logging.INFO)
    learned = train_tokenizer(load_recipe(recipe, overrides or ()), max_pairs=max_pairs)
    learned.save(output)
    print(f"{learned.vocab_size} pieces, sha256 {learned.fingerprint}", file=sys.stderr)


@app.command()
def lexicon(
    recipe: RecipeFile,
    output: Output,
    overrides: Overrides = None,
    min_count: Annotated[int, typer.Option(help="Least occurrences of a word.", min=1)] = 2,
) -> None:
    """Collect the words of the training texts, for the constraint that outputs hold no others."""
    from sumfit.training.prepare import build_lexicon
    from sumfit.training.recipe import load_recipe

    words = build_lexicon(load_recipe(recipe, overrides or ()), min_count=min_count)
    words.save(output)
    print(f"{len(words)} words: {output}", file=sys.stderr)


@app.command()
def start_weights(
    tokenizer_file: Annotated[Path, typer.Argument(help="Tokenizer to transplant to.")],
    output: Output,
    minilm: Annotated[
        Path | None, typer.Option(help="Directory of MiniLM; the installed package by default.")
    ] = None,
) -> None:
    """Write MiniLM's weights for a tokenizer as one small file, to carry elsewhere."""
    from sumfit.models.minilm import write_start_weights
    from sumfit.text import Tokenizer

    write_start_weights(Tokenizer.from_file(tokenizer_file), output, minilm)
    print(output)


@app.command()
def pack(
    recipe: RecipeFile,
    overrides: Overrides = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Directory; the recipe's by default.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes; 0 for one per core.", min=0)] = 0,
) -> None:
    """Tokenise all sets of a recipe into a packed corpus, and print what was kept and dropped."""
    from sumfit.training.prepare import pack as run
    from sumfit.training.recipe import load_recipe

    log_to_stderr(logging.INFO)
    begun = time.monotonic()
    n_done = 0

    def show(name: str, count: int) -> None:
        nonlocal n_done
        n_done += count
        if sys.stderr.isatty():
            print(f"\r{n_done:,} pairs ({name})\x1b[K", end="", file=sys.stderr)

    settings = load_recipe(recipe, overrides or ())
    report = run(settings, output=output, n_workers=workers, on_progress=show)
    seconds = time.monotonic() - begun
    for line in report.lines():
        print(line)
    print(f"{n_done:,} pairs in {seconds:.1f} s: {output or settings.corpus}", file=sys.stderr)
