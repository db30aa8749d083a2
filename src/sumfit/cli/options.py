"""Options that several commands share, stated once.

Owns the command line's names for length keywords, summary options and the model, and how their
values become keyword arguments of the library. Defaults that belong to the library are not
repeated here: an option left out is not passed on.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, TypeVar, cast

import typer

from sumfit.cli.terminal import check_utf8
from sumfit.compilation import announce_compilation
from sumfit.errors import BudgetError, ConfigError
from sumfit.length import PRESETS, UNITS
from sumfit.length.request import KEYWORD_UNITS, RATIO_RULES
from sumfit.options import GROUPS, OPTIONS, Option
from sumfit.pipeline.options import CHOICES, LENGTH_KEYWORDS, help_of
from sumfit.rerank import RERANKERS
from sumfit.text.printable import printable

__all__ = ["LengthFlags", "ModelFlags", "SummaryFlags", "choice", "with_flags"]

T = TypeVar("T")

_LENGTH = "Length in other units"
_ROOM = "Room around the summary"
_MODEL = "Model"
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


def _declared(one: Option) -> Any:
    """What typer is told of an option of a summary."""
    panel = one.group or None
    if one.registry:
        return _named(
            one.help.rstrip("."), [name for name in CHOICES[one.name] if name], panel, one.registry
        )
    if one.name in CHOICES:
        return choice(one.help, CHOICES[one.name], panel)
    told: dict[str, Any] = {"rich_help_panel": panel, "show_default": False}
    if one.kind is not bool:
        told["metavar"] = one.metavar
    if one.name == "rerank":
        told["autocompletion"] = lambda: list(RERANKERS)
    said = help_of(one)
    if one.kind is tuple:
        said = f"{said.rstrip('.')}; repeatable."
    if one.default is True:
        said = f"{said.rstrip('.')} (on by default)."
    return typer.Option(*filter(None, [one.flag]), help=said, **told)


class DeclaredFlags(ABC):
    """Options that are made from declarations of the library; one that was left out is ``None``."""

    def __init__(self, **values: Any) -> None:
        self._given = {
            name: value for name, value in values.items() if value is not None and value != []
        }

    @classmethod
    @abstractmethod
    def flags(cls) -> Mapping[str, Any]:
        """List the options.

        Returns:
            Name of the keyword -> what typer is told of it.
        """

    @classmethod
    @abstractmethod
    def kind_of(cls, name: str) -> type:
        """Say what an option is read as.

        Args:
            name: Name of the keyword.

        Returns:
            The type of its values.
        """

    def keywords(self) -> dict[str, Any]:
        """The options that were given.

        Returns:
            Keyword arguments of the library.
        """
        return dict(self._given)


class LengthFlags(DeclaredFlags):
    """How long a summary may be. Several limits, as in ``30,60,90``, give several summaries."""

    @classmethod
    def kind_of(cls, name: str) -> type:
        """See `DeclaredFlags.kind_of`."""
        return int if name == "reserve" else str

    @classmethod
    def flags(cls) -> Mapping[str, Any]:
        """See `DeclaredFlags.flags`."""
        units = {name: UNITS[name].plural or name for name in KEYWORD_UNITS}
        others = {f"max_{name}": _limit(f"At most N {many}.") for name, many in units.items()}
        first = {
            "max_chars": _limit("At most N characters; 30,60,90 for three summaries.", None),
            "max_words": _limit("At most N words.", None),
        }
        return {
            **first,
            "preset": _named("The limit and style of a slot", tuple(PRESETS), None, "presets"),
            "max_length": _limit("At most N of --unit.", None),
            "unit": _named("Unit of --max-length and --ratio", tuple(UNITS), None, "units"),
            **{name: limit for name, limit in others.items() if name not in first},
            **{f"exact_{name}": _limit(f"Exactly N {many}.") for name, many in units.items()},
            "exact_length": _limit("Exactly N of --unit."),
            **{
                f"min_{name}": _limit(f"At least N {many}, with --max-{name}.")
                for name, many in units.items()
            },
            "min_length": _limit("At least N, with --max-length."),
            "ratio": _option("Share of the source's length, as 0.25.", "SHARE", _LENGTH),
            "ratio_rule": choice("How a ratio is rounded", RATIO_RULES, _LENGTH),
            "reserve": _option("Length to leave free, for example for a link.", "N", _ROOM),
            "prefix": _option("Text before the summary, counted.", "TEXT", _ROOM),
            "suffix": _option("Text after the summary, counted.", "TEXT", _ROOM),
        }

    def keywords(self) -> dict[str, Any]:
        """The length keywords that were given.

        Returns:
            Keyword arguments; a value with commas is a list.

        Raises:
            BudgetError: If a limit is no number.
        """
        given = super().keywords()
        return {
            name: _numbers(name, given[name])
            if name.startswith(("max_", "min_", "exact_")) or name == "ratio"
            else given[name]
            for name in LENGTH_KEYWORDS
            if name in given
        }


class SummaryFlags(DeclaredFlags):
    """How to summarise."""

    @classmethod
    def kind_of(cls, name: str) -> type:
        """See `DeclaredFlags.kind_of`."""
        kind = OPTIONS[name].kind
        return list[str] if kind is tuple else kind

    @classmethod
    def flags(cls) -> Mapping[str, Any]:
        """See `DeclaredFlags.flags`."""
        options = sorted(OPTIONS.values(), key=lambda one: GROUPS.index(one.group))
        return {one.name: _declared(one) for one in options if one.is_flag}

    def keywords(self) -> dict[str, Any]:
        """The options that were given.

        Returns:
            Keyword arguments for a summarizer.

        Raises:
            InputError: If a phrase is not UTF-8.
        """
        given = super().keywords()
        for name, phrases in given.items():
            for phrase in phrases if isinstance(phrases, list) else ():
                check_utf8(phrase, f"{OPTIONS[name].long_flag} {printable(phrase)}")
        return given


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
        of_groups = {name: _parameters_of(group) for name, group in groups.items()}
        added = [one for parameters in of_groups.values() for one in parameters]
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
                name: groups[name](**{one.name: values.pop(one.name) for one in parameters})
                for name, parameters in of_groups.items()
            }
            return command(*args, **values, **filled)

        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {item.name: item.annotation for item in parameters}
        del wrapped.__wrapped__
        return wrapped

    return decorate


def _parameters_of(group: type[Any]) -> list[inspect.Parameter]:
    """The options of a group, as parameters of a command."""
    if issubclass(group, DeclaredFlags):
        annotated: Any = Annotated
        hints = {
            name: annotated[group.kind_of(name) | None, one] for name, one in group.flags().items()
        }
        defaults: dict[str, Any] = dict.fromkeys(hints)
    else:
        hints = inspect.get_annotations(group, eval_str=True)
        defaults = {
            one.name: inspect.Parameter.empty if one.default is MISSING else one.default
            for one in fields(group)
        }
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=hints[name],
        )
        for name, default in defaults.items()
    ]


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
