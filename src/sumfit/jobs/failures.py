"""Texts of a file that have no summary: counted, and the first of them named.

Owns what is said of them, in the same words whether results come one by one or a file job writes
them at its end. Does not own how a terminal shows it.
"""

from __future__ import annotations

from sumfit.errors import DataFormatError, EmptyInputError, SumfitError

__all__ = ["Failures"]

_MOST_MESSAGES = 20


class Failures:
    """Counts texts, in ``n_texts``, and those among them that failed, in ``n_failed``."""

    def __init__(self, *, blank_is_good: bool) -> None:
        """Start at nothing.

        Args:
            blank_is_good: Blank texts give blank lines, which is no failure.
        """
        self._blank_is_good = blank_is_good
        self.n_texts = 0
        self.n_failed = 0

    def add(self, line: int, error: SumfitError | None) -> SumfitError | None:
        """Count one text.

        Args:
            line: Its line or row, from 1.
            error: What is wrong with it, ``None`` if it has a summary.

        Returns:
            What to say of it; ``None`` if it is good, or one of many.
        """
        self.n_texts += 1
        if error is None or (self._blank_is_good and isinstance(error, EmptyInputError)):
            return None
        self.n_failed += 1
        if self.n_failed > _MOST_MESSAGES:
            return None
        names_its_line = isinstance(error, DataFormatError)
        return error if names_its_line else SumfitError(f"line {line}: ", *error.parts)

    def total(self) -> str:
        """Say how many failed.

        Returns:
            One sentence.
        """
        few = self.n_failed <= _MOST_MESSAGES
        return f"{self.n_failed} of {self.n_texts} texts have no summary" + (
            "" if few else f"; the first {_MOST_MESSAGES} above"
        )
