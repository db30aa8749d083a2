"""Every error sumfit raises on purpose, with its exit code and HTTP status.

Owns the exception tree; does not own any check. Each message says what rule was broken, which
value was given and what to do about it::

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
    "MissingExtraError",
    "ModelError",
    "ModelFormatError",
    "ModelNotFoundError",
    "NothingFoundError",
    "OverloadedError",
    "ServiceError",
    "SumfitError",
    "TimeLimitError",
    "TrainingError",
    "UnknownUnitError",
    "UnsupportedLanguageError",
    "UnsupportedScriptError",
]


class SumfitError(Exception):
    """Root of every error raised on purpose; catch this to catch them all.

    Attributes:
        exit_code: What the command line exits with: 1 for a run-time error, 2 for wrong usage.
        http_status: What the HTTP server answers.
    """

    exit_code: int = 1
    http_status: int = 500


class ConfigError(SumfitError, ValueError):
    """A recipe or option that cannot be used."""

    exit_code = 2
    http_status = 422


class InputError(SumfitError, ValueError):
    """A text, file or record that cannot be used."""

    http_status = 422


class EmptyInputError(InputError):
    """A text with nothing in it but white space, or nothing but web addresses."""


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
