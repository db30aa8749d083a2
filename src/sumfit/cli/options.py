"""Options that several commands share, stated once.

Owns the command line's names for length keywords, summary options and the model, and how their
values become keyword arguments of the library. Defaults that belong to the library are not
repeated here: an option left out is not passed on.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, TypeVar

import typer

from sumfit.cli.terminal import announce_compilation, check_utf8, printable
from sumfit.errors import BudgetError, ConfigError
from sumfit.pipeline.options import LENGTH_KEYWORDS

__all__ = ["LengthFlags", "ModelFlags", "SummaryFlags", "with_flags"]

T = TypeVar("T")

_LENGTH = "Length (one of these)"
_ROOM = "Room around the summary"
_STYLE = "What the summary may hold"
_INPUT = "What the text is"
_SEARCH = "Search"
_MODEL = "Model"


def _limit(what: str) -> Any:
    return typer.Option(help=what, metavar="N", rich_help_panel=_LENGTH, show_default=False)


@dataclass(frozen=True)
class LengthFlags:
    """How long a summary may be. Several limits, as in ``30,60,90``, give several summaries."""

    max_words: Annotated[str | None, _limit("At most N words.")] = None
    max_chars: Annotated[str | None, _limit("At most N characters.")] = None
    max_bytes: Annotated[str | None, _limit("At most N bytes of UTF-8.")] = None
    max_tokens: Annotated[str | None, _limit("At most N pieces of the vocabulary.")] = None
    max_graphemes: Annotated[str | None, _limit("At most N graphemes.")] = None
    max_cells: Annotated[str | None, _limit("At most N terminal columns.")] = None
    max_length: Annotated[str | None, _limit("At most N of --unit.")] = None
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
    unit: Annotated[
        str | None,
        typer.Option(
            help="Unit of --max-length and --ratio; see sumfit units.", rich_help_panel=_LENGTH
        ),
    ] = None
    ratio: Annotated[
        str | None,
        typer.Option(help="Share of the source's length, as 0.25.", rich_help_panel=_LENGTH),
    ] = None
    ratio_rule: Annotated[
        str | None,
        typer.Option(help="floor, paper-dat or paper-truncate.", rich_help_panel=_LENGTH),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(help="A named limit; see sumfit presets.", rich_help_panel=_LENGTH),
    ] = None
    reserve: Annotated[
        int | None,
        typer.Option(help="Length to leave free, for example for a link.", rich_help_panel=_ROOM),
    ] = None
    prefix: Annotated[
        str | None, typer.Option(help="Text before the summary, counted.", rich_help_panel=_ROOM)
    ] = None
    suffix: Annotated[
        str | None, typer.Option(help="Text after the summary, counted.", rich_help_panel=_ROOM)
    ] = None

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


def _switch(what: str) -> Any:
    return typer.Option(help=what, rich_help_panel=_STYLE, show_default=False)


@dataclass(frozen=True)
class SummaryFlags:
    """How to summarise."""

    n_best: Annotated[
        int | None, typer.Option(help="Candidates to return.", rich_help_panel=_SEARCH)
    ] = None
    near_doubles: Annotated[
        bool | None, _switch("Allow candidates that differ in a single word alone.")
    ] = None
    rerank: Annotated[
        str | None,
        typer.Option(
            help="What chooses: auto (the model's scorer), none (the best score), mbr, mbr-nbest, "
            "neural (the model's own reranker), or the directory of a trained one.",
            rich_help_panel=_SEARCH,
        ),
    ] = None
    faithful: Annotated[
        bool | None,
        _switch("Of the candidates, one that says only what the source says, by rules."),
    ] = None
    method: Annotated[
        str | None, typer.Option(help="Decoder; see sumfit model.", rich_help_panel=_SEARCH)
    ] = None
    ending: Annotated[
        str | None, typer.Option(help="Objective: eos or any.", rich_help_panel=_SEARCH)
    ] = None
    fill: Annotated[
        str | None,
        typer.Option(help="natural, or prefer to use more of the limit.", rich_help_panel=_SEARCH),
    ] = None
    bonus: Annotated[
        float | None,
        typer.Option(help="Score added per piece, in nats.", rich_help_panel=_SEARCH),
    ] = None
    unit_bonus: Annotated[
        float | None,
        typer.Option(
            help="Score added per unit of the limit that is used, in nats.",
            rich_help_panel=_SEARCH,
        ),
    ] = None
    beam_size: Annotated[
        int | None, typer.Option(help="Width of the beam decoders.", rich_help_panel=_SEARCH)
    ] = None
    words_per_vertex: Annotated[
        int | None, typer.Option(help="Words searched at each vertex.", rich_help_panel=_SEARCH)
    ] = None
    max_expansions: Annotated[
        int | None,
        typer.Option(help="Most prefixes that exact search expands.", rich_help_panel=_SEARCH),
    ] = None
    time_limit_s: Annotated[
        float | None,
        typer.Option(
            "--time-limit", help="Most seconds per search.", rich_help_panel=_SEARCH, metavar="S"
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option(help="Seed of the sampling decoders.", rich_help_panel=_SEARCH)
    ] = None
    constraints: Annotated[bool | None, _switch("Keep the constraints below, or none of them.")] = (
        None
    )
    repeat_words: Annotated[bool | None, _switch("Allow a content word twice.")] = None
    repeat_adjacent: Annotated[bool | None, _switch("Allow a word to follow itself.")] = None
    no_repeat_ngram: Annotated[
        int | None,
        typer.Option(help="Let no N words in a row occur twice.", rich_help_panel=_STYLE),
    ] = None
    whole_words: Annotated[
        bool | None, _switch("Allow only words of the source or the lexicon.")
    ] = None
    dangling_end: Annotated[
        bool | None, _switch("Allow an end that lacks something, as 'of the'.")
    ] = None
    final_stop: Annotated[bool | None, _switch("Allow a full stop at the end.")] = None
    banned: Annotated[
        list[str] | None,
        typer.Option("--ban", help="Phrase not to use; repeatable.", rich_help_panel=_STYLE),
    ] = None
    required: Annotated[
        list[str] | None,
        typer.Option("--require", help="Phrase to use; repeatable.", rich_help_panel=_STYLE),
    ] = None
    source_numbers_only: Annotated[bool | None, _switch("Allow only numbers of the source.")] = None
    source_names_only: Annotated[bool | None, _switch("Allow only names of the source.")] = None
    style: Annotated[
        str | None,
        typer.Option(
            help="auto (the preset's, else the text's), news, commit, title, subject, synopsis "
            "or plain.",
            rich_help_panel=_STYLE,
        ),
    ] = None
    capitalization: Annotated[
        str | None,
        typer.Option(
            help="Capital letters: sentence, title, or source to change none.",
            rich_help_panel=_STYLE,
        ),
    ] = None
    keep_short: Annotated[bool | None, _switch("Return a text that already fits as it is.")] = None
    clean: Annotated[
        bool | None,
        typer.Option(
            help="Take out markup, quoted mail, time stamps and the like (on by default).",
            rich_help_panel=_INPUT,
            show_default=False,
        ),
    ] = None
    strict: Annotated[
        bool | None,
        typer.Option(
            help="Refuse a text in a language that the model does not write.",
            rich_help_panel=_INPUT,
            show_default=False,
        ),
    ] = None
    long: Annotated[
        str | None,
        typer.Option(
            help="Of a long text read what says most (select), or the beginning (lead).",
            rich_help_panel=_INPUT,
        ),
    ] = None
    input_kind: Annotated[
        str | None,
        typer.Option(
            help="auto, plain, html, markdown, wiki, mail, transcript, diff or trace.",
            rich_help_panel=_INPUT,
        ),
    ] = None
    on_infeasible: Annotated[
        str | None,
        typer.Option(
            help="If nothing fits: error, or cut the source at a word.", rich_help_panel=_STYLE
        ),
    ] = None
    profile: Annotated[
        str | None, typer.Option(help="Text form: natural or gigaword.", rich_help_panel=_STYLE)
    ] = None

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
    backend: Annotated[str, typer.Option(help="onnx or torch.", rich_help_panel=_MODEL)] = "onnx"
    device: Annotated[
        str | None, typer.Option(help="Torch device, as cuda.", rich_help_panel=_MODEL)
    ] = None
    precision: Annotated[
        str | None, typer.Option(help="int8, fp32, bf16 or fp16.", rich_help_panel=_MODEL)
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
            backend=self.backend,
            device=self.device,
            precision=self.precision,
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
        parameters = [*own, *added]

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
