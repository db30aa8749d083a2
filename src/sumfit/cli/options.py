"""Options that several commands share, stated once.

Owns the command line's names for length keywords, summary options and the model, and how their
values become keyword arguments of the library. Defaults that belong to the library are not
repeated here: an option left out is not passed on.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, TypeVar, cast

import typer

from sumfit.cleaning import INPUT_KINDS
from sumfit.cli.terminal import check_utf8
from sumfit.compilation import announce_compilation
from sumfit.decoding import METHODS
from sumfit.errors import BudgetError, ConfigError
from sumfit.length import PRESETS, UNITS
from sumfit.length.request import RATIO_RULES
from sumfit.pipeline.options import CHOICES, LENGTH_KEYWORDS
from sumfit.rerank import RERANKERS
from sumfit.text.printable import printable

__all__ = ["LengthFlags", "ModelFlags", "SummaryFlags", "choice", "with_flags"]

T = TypeVar("T")

_LENGTH = "Length in other units"
_ROOM = "Room around the summary"
_WORDS = "What the summary may hold"
_TRUE = "Kept to the source (numbers and names by default)"
_RULES = "Rules of the summary"
_INPUT = "What the text is"
_CHOICE = "Search and choice"
_MODEL = "Model"
_RERANKERS = ", ".join(f"{name} ({row.about})" for name, row in RERANKERS.items())
_WIDEST_VALUES = 16  # characters that the help has room for beside an option's name
# Options without a panel come first in the help: the ten that matter.


def _limit(what: str, panel: str | None = _LENGTH) -> Any:
    return typer.Option(help=what, metavar="N", rich_help_panel=panel, show_default=False)


def choice(what: str, values: Sequence[str | None], panel: str | None = None) -> Any:
    """An option with few values: they are shown in the help, and completed by the shell.

    The library refuses other values, in its own words.

    Args:
        what: Help.
        values: The values; ``None``, which nobody can type, is left out.
        panel: Group of the option in the help; ``None`` for the first.

    Returns:
        What goes into ``Annotated``.
    """
    names = [value for value in values if value is not None]
    shown = "|".join(names)
    is_long = len(shown) > _WIDEST_VALUES
    return typer.Option(
        help=f"{what.rstrip('.')}: {', '.join(names)}." if is_long else what,
        metavar="NAME" if is_long else shown,
        rich_help_panel=panel,
        show_default=False,
        autocompletion=lambda: list(names),
    )


def _named(what: str, names: Sequence[str], panel: str | None, command: str) -> Any:
    """An option with many values, which a command lists."""
    return typer.Option(
        help=f"{what}; see sumfit {command}.",
        metavar="NAME",
        rich_help_panel=panel,
        show_default=False,
        autocompletion=lambda: list(names),
    )


def _option(what: str, metavar: str, panel: str) -> Any:
    return typer.Option(help=what, metavar=metavar, rich_help_panel=panel, show_default=False)


def _switch(what: str, panel: str = _RULES) -> Any:
    return typer.Option(help=what, rich_help_panel=panel, show_default=False)


@dataclass(frozen=True)
class LengthFlags:
    """How long a summary may be. Several limits, as in ``30,60,90``, give several summaries."""

    max_chars: Annotated[
        str | None, _limit("At most N characters; 30,60,90 for three summaries.", None)
    ] = None
    max_words: Annotated[str | None, _limit("At most N words.", None)] = None
    preset: Annotated[
        str | None, _named("The limit and style of a slot", tuple(PRESETS), None, "presets")
    ] = None
    max_length: Annotated[str | None, _limit("At most N of --unit.", None)] = None
    unit: Annotated[
        str | None, _named("Unit of --max-length and --ratio", tuple(UNITS), None, "units")
    ] = None
    max_bytes: Annotated[str | None, _limit("At most N bytes of UTF-8.")] = None
    max_tokens: Annotated[str | None, _limit("At most N pieces of the vocabulary.")] = None
    max_graphemes: Annotated[str | None, _limit("At most N graphemes.")] = None
    max_cells: Annotated[str | None, _limit("At most N terminal columns.")] = None
    exact_words: Annotated[str | None, _limit("Exactly N words.")] = None
    exact_chars: Annotated[str | None, _limit("Exactly N characters.")] = None
    exact_bytes: Annotated[str | None, _limit("Exactly N bytes.")] = None
    exact_tokens: Annotated[str | None, _limit("Exactly N pieces.")] = None
    exact_graphemes: Annotated[str | None, _limit("Exactly N graphemes.")] = None
    exact_cells: Annotated[str | None, _limit("Exactly N columns.")] = None
    exact_length: Annotated[str | None, _limit("Exactly N of --unit.")] = None
    min_words: Annotated[str | None, _limit("At least N words, with --max-words.")] = None
    min_chars: Annotated[str | None, _limit("At least N characters, with --max-chars.")] = None
    min_bytes: Annotated[str | None, _limit("At least N bytes, with --max-bytes.")] = None
    min_tokens: Annotated[str | None, _limit("At least N pieces, with --max-tokens.")] = None
    min_graphemes: Annotated[str | None, _limit("At least N, with --max-graphemes.")] = None
    min_cells: Annotated[str | None, _limit("At least N columns, with --max-cells.")] = None
    min_length: Annotated[str | None, _limit("At least N, with --max-length.")] = None
    ratio: Annotated[
        str | None, _option("Share of the source's length, as 0.25.", "SHARE", _LENGTH)
    ] = None
    ratio_rule: Annotated[str | None, choice("How a ratio is rounded", RATIO_RULES, _LENGTH)] = None
    reserve: Annotated[
        int | None, _option("Length to leave free, for example for a link.", "N", _ROOM)
    ] = None
    prefix: Annotated[str | None, _option("Text before the summary, counted.", "TEXT", _ROOM)] = (
        None
    )
    suffix: Annotated[str | None, _option("Text after the summary, counted.", "TEXT", _ROOM)] = None

    def keywords(self) -> dict[str, Any]:
        """The length keywords that were given.

        Returns:
            Keyword arguments; a value with commas is a list.

        Raises:
            BudgetError: If a limit is no number.
        """
        given = {
            name: getattr(self, name)
            for name in LENGTH_KEYWORDS
            if getattr(self, name, None) is not None
        }
        return {
            name: _numbers(name, value)
            if name.startswith(("max_", "min_", "exact_")) or name == "ratio"
            else value
            for name, value in given.items()
        }


@dataclass(frozen=True)
class SummaryFlags:
    """How to summarise."""

    style: Annotated[
        str | None,
        choice("What to write", CHOICES["style"]),
    ] = None
    n_best: Annotated[
        int | None, typer.Option(help="Candidates to return.", metavar="N", show_default=False)
    ] = None
    fill: Annotated[
        str | None, choice("Use as much of the limit as is natural, or more.", CHOICES["fill"])
    ] = None
    on_infeasible: Annotated[
        str | None,
        choice("If nothing fits: fail, or cut the source at a word.", CHOICES["on_infeasible"]),
    ] = None
    banned: Annotated[
        list[str] | None,
        typer.Option(
            "--ban", help="Phrase not to use; repeatable.", metavar="TEXT", rich_help_panel=_WORDS
        ),
    ] = None
    required: Annotated[
        list[str] | None,
        typer.Option(
            "--require", help="Phrase to use; repeatable.", metavar="TEXT", rich_help_panel=_WORDS
        ),
    ] = None
    capitalization: Annotated[
        str | None,
        choice("Capital letters", CHOICES["capitalization"], _WORDS),
    ] = None
    no_repeat_ngram: Annotated[
        int | None, _option("Let no N words in a row occur twice.", "N", _WORDS)
    ] = None
    source_numbers_only: Annotated[bool | None, _switch("Only numbers of the source.", _TRUE)] = (
        None
    )
    source_names_only: Annotated[bool | None, _switch("Only names of the source.", _TRUE)] = None
    faithful: Annotated[
        bool | None,
        _switch("A candidate that says only what the source says, by rules.", _TRUE),
    ] = None
    constraints: Annotated[bool | None, _switch("Keep the constraints below, or none of them.")] = (
        None
    )
    repeat_words: Annotated[bool | None, _switch("Allow a content word twice.")] = None
    repeat_adjacent: Annotated[bool | None, _switch("Allow a word to follow itself.")] = None
    whole_words: Annotated[
        bool | None, _switch("Allow only words of the source or the lexicon.")
    ] = None
    dangling_end: Annotated[
        bool | None, _switch("Allow an end that lacks something, as 'of the'.")
    ] = None
    final_stop: Annotated[bool | None, _switch("Allow a full stop at the end.")] = None
    input_kind: Annotated[
        str | None, choice("What the text is, where that is known", INPUT_KINDS, _INPUT)
    ] = None
    clean: Annotated[
        bool | None,
        _switch("Take out markup, quoted mail, time stamps and the like (on by default).", _INPUT),
    ] = None
    keep_short: Annotated[
        bool | None, _switch("Return a text that already fits as it is.", _INPUT)
    ] = None
    long: Annotated[
        str | None,
        choice("Of a long text read what says most, or the beginning.", CHOICES["long"], _INPUT),
    ] = None
    strict: Annotated[
        bool | None,
        _switch("Refuse a text in a language that the model does not write.", _INPUT),
    ] = None
    profile: Annotated[str | None, choice("Text form.", CHOICES["profile"], _INPUT)] = None
    rerank: Annotated[
        str | None,
        typer.Option(
            help=f"What chooses: {_RERANKERS}, or the directory of a trained one.",
            metavar="NAME|DIR",
            rich_help_panel=_CHOICE,
            show_default=False,
            autocompletion=lambda: list(RERANKERS),
        ),
    ] = None
    near_doubles: Annotated[
        bool | None, _switch("Allow candidates that differ in a word more, or endings.", _CHOICE)
    ] = None
    method: Annotated[str | None, _named("Decoder", sorted(METHODS), _CHOICE, "model")] = None
    ending: Annotated[str | None, choice("Objective.", CHOICES["ending"], _CHOICE)] = None
    bonus: Annotated[float | None, _option("Score added per piece, in nats.", "X", _CHOICE)] = None
    unit_bonus: Annotated[
        float | None,
        _option("Score added per unit of the limit that is used, in nats.", "X", _CHOICE),
    ] = None
    time_limit_s: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            help="Most seconds for one summary.",
            rich_help_panel=_CHOICE,
            metavar="S",
            show_default=False,
        ),
    ] = None
    max_expansions: Annotated[
        int | None, _option("Most prefixes that exact search expands.", "N", _CHOICE)
    ] = None
    beam_size: Annotated[int | None, _option("Width of the beam decoders.", "N", _CHOICE)] = None
    words_per_vertex: Annotated[
        int | None, _option("Words searched at each vertex.", "N", _CHOICE)
    ] = None
    seed: Annotated[int | None, _option("Seed of the sampling decoders.", "N", _CHOICE)] = None

    def keywords(self) -> dict[str, Any]:
        """The options that were given.

        Returns:
            Keyword arguments for a summarizer.

        Raises:
            InputError: If a phrase is not UTF-8.
        """
        for flag, phrases in (("--ban", self.banned), ("--require", self.required)):
            for phrase in phrases or ():
                check_utf8(phrase, f"{flag} {printable(phrase)}")
        return {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) not in (None, [])
        }


@dataclass(frozen=True)
class ModelFlags:
    """Which model, and where it runs."""

    model: Annotated[
        str | None,
        typer.Option(
            help="Model directory; the default model if not given.",
            envvar="SUMFIT_MODEL",
            rich_help_panel=_MODEL,
            metavar="DIR",
        ),
    ] = None
    backend: Annotated[str, choice("What runs the network.", ("onnx", "torch"), _MODEL)] = "onnx"
    device: Annotated[str | None, _option("Torch device, as cuda.", "NAME", _MODEL)] = None
    precision: Annotated[
        str | None, choice("Numbers of the network", ("int8", "fp32", "bf16", "fp16"), _MODEL)
    ] = None

    def load(self, *, n_workers: int | None = None) -> Any:
        """Load the model.

        Args:
            n_workers: Threads for many texts.

        Returns:
            A `sumfit.Summarizer`.
        """
        from sumfit.pipeline import Summarizer

        announce_compilation()
        return Summarizer.from_pretrained(
            self.model,
            backend=cast(Any, self.backend),
            device=self.device,
            precision=cast(Any, self.precision),
            n_workers=n_workers,
        )


def with_flags(**groups: type[Any]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Give a command the options of some groups.

    Args:
        **groups: Parameter of the command -> class of its options.

    Returns:
        A decorator: the command is called with one filled object per group.
    """

    def decorate(command: Callable[..., T]) -> Callable[..., T]:
        own = [
            parameter
            for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
            if name not in groups
        ]
        added = []
        for group in groups.values():
            group_hints = inspect.get_annotations(group, eval_str=True)
            for field in fields(group):
                default = field.default if field.default is not MISSING else inspect.Parameter.empty
                added.append(
                    inspect.Parameter(
                        field.name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=default,
                        annotation=group_hints[field.name],
                    )
                )
        is_argument = [isinstance(_info(one), typer.models.ArgumentInfo) for one in own]
        parameters = [one for one, first in zip(own, is_argument, strict=True) if first]
        parameters += added  # in the help, a command's own options follow those of the groups
        parameters += [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for one, first in zip(own, is_argument, strict=True)
            if not first
        ]

        @functools.wraps(command)
        def wrapped(*args: Any, **values: Any) -> T:
            filled = {
                name: group(**{field.name: values.pop(field.name) for field in fields(group)})
                for name, group in groups.items()
            }
            return command(*args, **values, **filled)

        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {item.name: item.annotation for item in parameters}
        del wrapped.__wrapped__
        return wrapped

    return decorate


def _info(parameter: inspect.Parameter) -> Any:
    """What typer is told of a parameter."""
    return next(iter(getattr(parameter.annotation, "__metadata__", ())), None)


def _numbers(name: str, value: str) -> Any:
    kind: Callable[[str], Any] = float if name == "ratio" else int
    try:
        numbers = [kind(part) for part in value.split(",")]
    except ValueError:
        flag = "--" + name.replace("_", "-")
        what = "a share such as 0.25" if name == "ratio" else "a whole number"
        error = ConfigError if name == "ratio" else BudgetError
        raise error(
            f"{flag} must be {what} (or several with commas between), was {value!r}"
        ) from None
    return numbers if "," in value else numbers[0]
