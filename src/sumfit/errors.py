"""Every error sumfit raises on purpose, with its exit code and HTTP status.

Owns the exception tree and what its messages are made of; does not own any check. Each message
says what rule was broken, which value was given and what to do about it. The parameters that it
names are `Keyword` parts, so that whoever shows it names them as its readers do::

    SumfitError
    ├── ConfigError(ValueError)            a recipe or option that cannot be used
    ├── InputError(ValueError)             a text, file or record that cannot be used
    │   ├── EmptyInputError                nothing but white space, or nothing but links
    │   ├── InputTooLongError              too long to be taken apart
    │   ├── UnsupportedScriptError         in a writing system the model cannot read
    │   ├── UnsupportedLanguageError       in a language the model cannot write
    │   └── DataFormatError                a file or record that does not parse
    ├── BudgetError(ValueError)            a length limit that makes no sense
    │   ├── UnknownUnitError               unit or preset nobody has heard of
    │   ├── ConflictingBudgetError         two limits at once, or min above max
    │   └── InfeasibleBudgetError          no output meets the limit
    │       └── NothingFoundError          the search ended before it found one
    ├── ConstraintError(ValueError)        constraints that contradict each other
    ├── GraphError(ValueError)             a DAG that is not one
    ├── ModelError                         a model directory that cannot be used
    │   ├── ModelNotFoundError(FileNotFoundError)   no model there
    │   ├── ModelFormatError(ValueError)   files missing or damaged
    │   └── IncompatibleModelError(ValueError)      made by another version or for another part
    ├── TrainingError(RuntimeError)        a training run that must not go on
    ├── ServiceError(RuntimeError)         a remote or local service that failed
    │   ├── OverloadedError                the queue is full: try again later
    │   └── TimeLimitError(TimeoutError)   the time limit for a request ran out
    └── MissingExtraError(ImportError)     an optional dependency is not installed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Self  # of every type checker; needed at no other time

__all__ = [
    "BudgetError",
    "ConfigError",
    "ConflictingBudgetError",
    "ConstraintError",
    "DataFormatError",
    "EmptyInputError",
    "GraphError",
    "IncompatibleModelError",
    "InfeasibleBudgetError",
    "InputError",
    "InputTooLongError",
    "Keyword",
    "MissingExtraError",
    "ModelError",
    "ModelFormatError",
    "ModelNotFoundError",
    "NothingFoundError",
    "OverloadedError",
    "Part",
    "Phrase",
    "ServiceError",
    "SumfitError",
    "TimeLimitError",
    "TrainingError",
    "UnknownUnitError",
    "UnsupportedLanguageError",
    "UnsupportedScriptError",
    "given",
    "joined",
]

_PLAIN = (str, int, float, bool, type(None))


class Keyword(NamedTuple):
    """A parameter in the message of an error.

    Attributes:
        name: Its name in Python, as ``max_chars``.
        after: What stands behind the name there: ``=60``, ``=`` for any value, or nothing; with a
            space in front, as in ``preset 'poster'``, it is a word that every reader knows.
        value: What was given.
    """

    name: str
    after: str = ""
    value: Any = None

    def __str__(self) -> str:
        """As in Python."""
        return self.name + self.after


Part: TypeAlias = str | Keyword
"""What the message of an error is made of."""

Phrase: TypeAlias = Part | tuple[Part, ...]
"""A piece of a message."""


def given(name: str, *value: Any) -> Keyword:
    """A parameter with its value, as ``max_chars=60``, or without, as ``max_chars=``.

    Args:
        name: Its name in Python.
        *value: The value, if there is one.

    Returns:
        A part of a message.
    """
    return Keyword(name, f"={value[0]!r}" if value else "=", *value)


def joined(between: str, phrases: Iterable[Phrase]) -> list[Part]:
    """Phrases in a row.

    Args:
        between: What stands between two.
        phrases: The phrases.

    Returns:
        Parts of a message.
    """
    each = ((phrase,) if isinstance(phrase, str | Keyword) else phrase for phrase in phrases)
    return [part for phrase in each for part in (between, *phrase)][1:]


class SumfitError(Exception):
    """Root of every error raised on purpose; catch this to catch them all.

    Attributes:
        exit_code: What the command line exits with: 1 for a run-time error, 2 for wrong usage.
        http_status: What the HTTP server answers.
    """

    exit_code: int = 1
    http_status: int = 500
    _parts: tuple[Part, ...] = ()

    def __init__(self, *parts: Part) -> None:
        """Put a message together.

        Args:
            *parts: Its parts in order.
        """
        super().__init__("".join(map(str, parts)))
        self._parts = tuple(map(_plain, parts))

    @classmethod
    def of(cls, name: str, value: Any, rule: str, *remedy: Part) -> Self:
        """Make the error of a parameter: ``NAME RULE, was VALUE; REMEDY``.

        Args:
            name: Its name in Python.
            value: What was given.
            rule: What the value must be.
            *remedy: What to do, in parts; nothing where the rule says it.

        Returns:
            The error to raise.
        """
        more = ("; ", *remedy) if remedy else ()
        return cls(Keyword(name, "", value), f" {rule}, was {value!r}", *more)

    @classmethod
    def from_parts(cls, parts: Iterable[str | Sequence[Any]]) -> Self:
        """Make an error of what another one's `parts` are in JSON.

        Args:
            parts: Strings, and lists for keywords.

        Returns:
            The same error.
        """
        return cls(*(part if isinstance(part, str) else Keyword(*part) for part in parts))

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the message is made of; it may become JSON."""
        return self._parts or (str(self),)

    @property
    def parameter(self) -> str | None:
        """The parameter at fault, by its name in Python; ``None`` if none is."""
        first = self.parts[0]
        return first.name if isinstance(first, Keyword) else None

    @property
    def value(self) -> Any:
        """The value of `parameter`: a string, number, bool or ``None``, or else a ``repr``."""
        first = self.parts[0]
        return first.value if isinstance(first, Keyword) else None

    def text(self, name: Callable[[Keyword], str]) -> str:
        """The message for readers who know parameters by other names than ``str`` gives them.

        Args:
            name: From a parameter to what stands for it.

        Returns:
            The message.
        """
        return "".join(part if isinstance(part, str) else name(part) for part in self.parts)


class ConfigError(SumfitError, ValueError):
    """A recipe or option that cannot be used."""

    exit_code = 2
    http_status = 422


class InputError(SumfitError, ValueError):
    """A text, file or record that cannot be used."""

    http_status = 422


class EmptyInputError(InputError):
    """A text with nothing in it but white space, web addresses or HTML tags."""


class InputTooLongError(InputError):
    """A text that is too long for what was asked of it."""


class UnsupportedScriptError(InputError):
    """A text in a writing system that the model was not trained on."""


class UnsupportedLanguageError(InputError):
    """A text in a language that the model does not write, where the caller wants none."""


class DataFormatError(InputError):
    """A file or record that does not parse; the message names file and line."""


class BudgetError(SumfitError, ValueError):
    """A length limit that makes no sense."""

    exit_code = 2
    http_status = 422


class UnknownUnitError(BudgetError):
    """A unit or preset nobody has heard of; the message lists the known ones."""


class ConflictingBudgetError(BudgetError):
    """Two length specifications in one call, or a minimum above the maximum."""


class InfeasibleBudgetError(BudgetError):
    """No output of the model meets the limit."""

    exit_code = 1


class NothingFoundError(InfeasibleBudgetError):
    """The search ended at its own limit before it found an output; there may be one."""


class ConstraintError(SumfitError, ValueError):
    """Constraints that contradict each other or the limit."""

    exit_code = 2
    http_status = 422


class GraphError(SumfitError, ValueError):
    """Arrays that are not a directed acyclic graph of words."""

    http_status = 422


class ModelError(SumfitError):
    """A model directory that cannot be used."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """There is no model at the given place."""

    def __str__(self) -> str:
        """The message alone, without the errno prefix of `OSError`."""
        return str(self.args[0]) if self.args else ""


class ModelFormatError(ModelError, ValueError):
    """A model directory with missing or damaged files."""


class IncompatibleModelError(ModelError, ValueError):
    """A model made by another version, or parts that do not belong together."""


class TrainingError(SumfitError, RuntimeError):
    """A training run that must not go on."""


class ServiceError(SumfitError, RuntimeError):
    """A remote or local service that failed."""

    http_status = 502


class OverloadedError(ServiceError):
    """The queue is full; try again later."""

    http_status = 429


class TimeLimitError(ServiceError, TimeoutError):
    """The time limit of a request ran out before its result was ready."""

    http_status = 504


class MissingExtraError(SumfitError, ImportError):
    """An optional dependency is not installed; the message is the pip line that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        """Say which package is missing and how to get it.

        Args:
            package: Name of the package that could not be imported.
            extra: Extra of sumfit that brings it.
        """
        # With sumfit installed, from wherever, the first line fetches nothing but the extra.
        super().__init__(
            f"{package} is not installed; run: pip install 'sumfit[{extra}]' "
            f"(in a clone that is not installed: pip install '.[{extra}]')"
        )
        self._given = (package, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """Go from process to process, as every other error does."""
        return type(self), self._given


def _plain(part: Part) -> Part:
    """A part that goes from process to process, and into JSON, whatever the value is."""
    if isinstance(part, str) or type(part.value) in _PLAIN:
        return part
    return part._replace(value=repr(part.value))
