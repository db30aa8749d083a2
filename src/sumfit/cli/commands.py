"""Every command of the command line: where it lives and what it is for.

Owns the table, which is read without importing any command.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "DEFAULT", "Command"]

DEFAULT = "text"


class Command(NamedTuple):
    """One command.

    Attributes:
        target: ``module:name`` of a function with typer annotations, or of a `typer.Typer`.
        summary: One line for the list of commands.
        extra: Extra of sumfit that it needs, empty for none.
        panel: Group in the list of commands; ``None`` for the first.
    """

    target: str
    summary: str
    extra: str = ""
    panel: str | None = None


_TRAINING = "Train"
_MEASURING = "Measure and compare"
_PLACES = "In other programs"


COMMANDS: dict[str, Command] = {
    "text": Command(
        "sumfit.cli.text:text", 'Summarise one text: what sumfit "text" runs by itself.'
    ),
    "summarize": Command(
        "sumfit.cli.summarize:summarize", "Summarise every text of a file or of standard input."
    ),
    "inspect": Command(
        "sumfit.cli.inspect:inspect", "Show the graph behind a summary and the path through it."
    ),
    "git-hook": Command(
        "sumfit.cli.git_hook:app", "Propose subjects for commits, as a hook of git.", panel=_PLACES
    ),
    "check-subject": Command(
        "sumfit.cli.git_hook:check_subject",
        "Check a commit's subject or a request's title.",
        panel=_PLACES,
    ),
    "presets": Command("sumfit.cli.listing:presets", "List the named length limits."),
    "units": Command("sumfit.cli.listing:units", "List what a limit can count."),
    "warmup": Command(
        "sumfit.cli.listing:warmup", "Compile the search beforehand, and say how long it took."
    ),
    "model": Command("sumfit.cli.listing:model", "Describe a model and the defaults in use."),
    "mcp": Command("sumfit.cli.mcp:mcp", "Serve a tool to agents (MCP).", "mcp", panel=_PLACES),
    "train": Command(
        "sumfit.cli.train:train", "Train a model from a recipe.", "train", panel=_TRAINING
    ),
    "nbest": Command(
        "sumfit.cli.nbest:nbest",
        "Make n-best lists to train a reranker on.",
        "train",
        panel=_TRAINING,
    ),
    "train-reranker": Command(
        "sumfit.cli.train_reranker:train_reranker",
        "Train a reranker from a recipe.",
        "train",
        panel=_TRAINING,
    ),
    "export": Command(
        "sumfit.cli.export:export", "Turn a checkpoint into a model.", "train", panel=_TRAINING
    ),
    "data": Command("sumfit.cli.data:app", "Check and pack training data.", panel=_TRAINING),
    "evaluate": Command(
        "sumfit.cli.evaluate:evaluate",
        "Score summaries against references.",
        "eval",
        panel=_MEASURING,
    ),
    "reproduce": Command(
        "sumfit.cli.reproduce:reproduce",
        "Make the tables of the paper again.",
        "eval",
        panel=_MEASURING,
    ),
    "baseline": Command(
        "sumfit.cli.baseline:app",
        "Write summaries of baselines that need no training.",
        "eval",
        panel=_MEASURING,
    ),
    "tune": Command(
        "sumfit.cli.tune:tune", "Fit a model's length bonus on data.", "eval", panel=_TRAINING
    ),
    "judge": Command(
        "sumfit.cli.judge:judge", "Let a language model compare systems.", "eval", panel=_MEASURING
    ),
    "bench": Command("sumfit.cli.bench:bench", "Measure speed on this machine.", panel=_MEASURING),
    "serve": Command("sumfit.cli.serve:serve", "Serve summaries over HTTP.", "serve"),
}
