"""Control pieces: what a model is told of a summary before it reads the source.

Owns the pieces, what they mean, and their order. A model trained with them reads, in front of the
source, one piece for the style wanted and one for the length wanted, either of which may be absent
(control codes: Keskar et al. 2019, "CTRL"; length tokens: Fan et al. 2018). Does not own how they
are drawn in training (`sumfit.data.controls`) or which are asked for (`sumfit.pipeline`).

No new vocabulary is needed: a byte-level tokenizer has a piece for each byte, and thirteen bytes
never occur in UTF-8.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sumfit.errors import ConfigError
from sumfit.text.tokenizer import Tokenizer

__all__ = ["LENGTHS", "N_CONTROLS", "STYLES", "Controls"]

STYLES = ("news", "commit", "title", "subject", "synopsis", "plain")
"""Styles that a model can be told, in the order of their pieces."""

LENGTHS = (24, 36, 48, 62, 80, 110)
"""Longest summary, in characters, of each class of lengths but the last, which has no end."""

N_CONTROLS = 2
"""Most control pieces before one source."""

_NOT_IN_UTF8 = (0xC0, 0xC1, *range(0xF5, 0x100))


@dataclass(frozen=True, slots=True)
class Controls:
    """The control pieces of one model.

    Attributes:
        styles: Vocabulary id of each style's piece.
        lengths: Vocabulary id of each class of lengths, shortest first; one more than `LENGTHS`.
    """

    styles: Mapping[str, int]
    lengths: tuple[int, ...]

    @classmethod
    def of_tokenizer(cls, tokenizer: Tokenizer) -> Controls:
        """Find the control pieces of a tokenizer.

        Args:
            tokenizer: A byte-level tokenizer.

        Returns:
            Its pieces.

        Raises:
            ConfigError: If it has no piece for some byte.
        """
        place = {piece: index for index, piece in enumerate(tokenizer.piece_bytes)}
        found = [place.get(bytes([byte])) for byte in _NOT_IN_UTF8]
        ids = [index for index in found if index is not None]
        if len(ids) < len(STYLES) + len(LENGTHS) + 1:
            raise ConfigError(
                f"the tokenizer has {len(ids)} pieces for bytes that no text holds, control pieces "
                f"need {len(STYLES) + len(LENGTHS) + 1}; use a byte-level tokenizer that keeps "
                "all 256 bytes"
            )
        styles = dict(zip(STYLES, ids, strict=False))
        return cls(styles, tuple(ids[len(STYLES) : len(STYLES) + len(LENGTHS) + 1]))

    def ids(self, *, style: str = "", n_chars: int | None = None) -> tuple[int, ...]:
        """Return what stands before the source.

        Args:
            style: One of `STYLES`; empty for whatever suits the text.
            n_chars: Characters that the summary may have; ``None`` for any number.

        Returns:
            None, one or two vocabulary ids.

        Raises:
            ConfigError: If there is no such style.
        """
        if style and style not in self.styles:
            raise ConfigError.of("style", style, f"must be one of {', '.join(self.styles)}")
        first = (self.styles[style],) if style else ()
        second = () if n_chars is None else (self.lengths[bisect.bisect_left(LENGTHS, n_chars)],)
        return first + second

    def to_dict(self) -> dict[str, Any]:
        """Return the ids as plain data, for ``config.json``."""
        return {"styles": dict(self.styles), "lengths": list(self.lengths)}
