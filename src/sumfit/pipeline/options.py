"""The options of a summary with the names that registries hold, and the splitting of keywords.

Owns `Options`, `CHOICES` and what options say of each other. Does not own the declarations
(`sumfit.options`), length keywords (`sumfit.length`) or what an option does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from sumfit.cleaning import INPUT_KINDS
from sumfit.decoding import METHODS
from sumfit.errors import ConfigError, given
from sumfit.length.request import LIMIT_KEYWORDS
from sumfit.options import OPTIONS, Option, SummaryOptions, check_option
from sumfit.rerank import RERANKERS
from sumfit.runtime import ModelConfig
from sumfit.spelling import did_you_mean
from sumfit.text.capitalization import CAPITALIZATIONS
from sumfit.text.controls import STYLES

__all__ = [
    "CHOICES",
    "LENGTH_KEYWORDS",
    "OnError",
    "Options",
    "check_on_error",
    "check_profile",
    "help_of",
    "split_keywords",
]

OnError = Literal["raise", "return"]

LENGTH_KEYWORDS = (*LIMIT_KEYWORDS, "unit", "ratio_rule", "reserve", "prefix", "suffix")
"""Keywords that say how long a summary may be."""

_OF_REGISTRIES: dict[str, Callable[[], tuple[str | None, ...]]] = {
    "method": lambda: tuple(sorted(METHODS)),  # a row may be added at run time
    "input_kind": lambda: INPUT_KINDS,
    "capitalization": lambda: (None, *CAPITALIZATIONS),
    "style": lambda: ("auto", *STYLES),
}

CHOICES: Mapping[str, tuple[str | None, ...]] = {
    name: declared.choices or _OF_REGISTRIES[name]()
    for name, declared in OPTIONS.items()
    if declared.choices or name in _OF_REGISTRIES
}
"""Values of the options that are names."""


@dataclass(frozen=True, slots=True)
class Options(SummaryOptions):
    """How to summarise; the defaults are what `Summarizer` and the command line use."""

    def __post_init__(self) -> None:
        if self.rerank == "none":
            object.__setattr__(self, "rerank", None)
        SummaryOptions.__post_init__(self)
        for name, choices in _OF_REGISTRIES.items():
            check_option(OPTIONS[name], getattr(self, name), choices())
        if self.profile == "gigaword" and self.capitalization in ("sentence", "title"):
            raise ConfigError(
                given("profile", "gigaword"),
                " is lower case throughout, capitalization was "
                f"{self.capitalization!r}; leave it out",
            )
        if self.is_cancelled is not None and not callable(self.is_cancelled):
            rule = "must be a function without arguments"
            raise ConfigError.of("is_cancelled", self.is_cancelled, rule)

    @property
    def has_label_once(self) -> bool:
        """Whether a prefix that is a label is kept out of the summary behind it.

        Not where required words might hold it, nor by methods that keep no constraints.
        """
        return not self.required and METHODS[self.method].keeps_constraints


def help_of(declared: Option) -> str:
    """Return the help of an option, with what a registry says of its values.

    Args:
        declared: Its declaration.

    Returns:
        One sentence.
    """
    if "{choices}" not in declared.help:
        return declared.help
    known = ", ".join(f"{name} ({row.about})" for name, row in RERANKERS.items())
    return declared.help.format(choices=known)


def split_keywords(
    keywords: Mapping[str, Any], options: Options | None = None
) -> tuple[dict[str, Any], Options]:
    """Part keyword arguments into those of length and the others.

    Args:
        keywords: What the caller gave; ``None`` for a length keyword means not given.
        options: Options to start from.

    Returns:
        The length keywords, and the options with the other keywords applied.

    Raises:
        TypeError: If a keyword is unknown; the message names the nearest one.
        ConfigError: If an option is out of range.
    """
    names = {field.name for field in fields(Options)}
    length: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in LENGTH_KEYWORDS:
            if value is not None:
                length[name] = value
        elif name in names:
            changes[name] = value
        else:
            hint = did_you_mean(name, [*LENGTH_KEYWORDS, *names])
            raise TypeError(f"unknown keyword {name!r}{hint}")
    return length, replace(options or Options(), **changes)


def check_on_error(on_error: object) -> None:
    """Raise ConfigError unless `on_error` is "raise" or "return".

    Args:
        on_error: What the caller gave.

    Raises:
        ConfigError: If it is not ``"raise"`` or ``"return"``.
    """
    if on_error not in get_args(OnError):
        raise ConfigError.of("on_error", on_error, "must be 'raise' or 'return'")


def check_profile(profile: str, config: ModelConfig) -> None:
    """Raise unless a model was trained on a text profile.

    Args:
        profile: The profile.
        config: The model's configuration.

    Raises:
        ConfigError: If the model was not trained on it.
    """
    if profile not in config.profiles:
        known = ", ".join(repr(name) for name in config.profiles)
        raise ConfigError(
            f"model {config.name!r} was trained on profile {known}, profile was {profile!r}; "
            "use another model"
        )


_MEANINGS = {name: f"{help_of(one)} {one.details}".rstrip() for name, one in OPTIONS.items()}
Options.__doc__ = "\n".join(
    [f"{Options.__doc__}\n\nAttributes:", *(f"    {name}: {_MEANINGS[name]}" for name in _MEANINGS)]
)
