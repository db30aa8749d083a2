"""Control pieces as training draws them: before each source its style and a length, or neither.

Owns the rates at which they are left out and how a limit is made up for a summary whose limit
nobody knows. Does not own the pieces (`sumfit.text.controls`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.errors import ConfigError
from sumfit.text import Tokenizer
from sumfit.text.controls import LENGTHS, N_CONTROLS, Controls

__all__ = ["ControlDraw", "ControlOptions"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ControlOptions:
    """How often control pieces are given, and how a limit is drawn.

    Attributes:
        style_share: Share of the pairs of a set with a style that are told it.
        length_share: Share of all pairs that are told a length.
        room: A limit is drawn evenly from the summary's length to so many times that.
    """

    style_share: float = 0.0
    length_share: float = 0.0
    room: float = 1.3

    def __post_init__(self) -> None:
        for name in ("style_share", "length_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1, was {getattr(self, name)}")
        if self.room < 1:
            raise ConfigError(f"room must be at least 1, was {self.room}")

    @property
    def is_used(self) -> bool:
        """Whether any pair is told anything."""
        return self.style_share > 0 or self.length_share > 0


class ControlDraw:
    """Puts control pieces before the sources of a batch."""

    def __init__(
        self, options: ControlOptions, tokenizer: Tokenizer, styles: Sequence[str]
    ) -> None:
        """Look up the pieces.

        Args:
            options: Rates.
            tokenizer: Tokenizer of the corpus.
            styles: Style of each set of the corpus, empty for none, in the order of its ids.
        """
        controls = Controls.of_tokenizer(tokenizer)
        self.options = options
        self.n_pieces = N_CONTROLS
        self._style_ids = np.array(
            [controls.styles[style] if style else 0 for style in styles], dtype=np.int64
        )
        self._length_ids = np.array(controls.lengths, dtype=np.int64)
        self._piece_chars = tokenizer.piece_chars
        self._starts_word = tokenizer.starts_word.astype(np.int64)

    def before(
        self,
        source_ids: IntArray,
        target_ids: IntArray,
        set_ids: npt.NDArray[np.uint16],
        rng: np.random.Generator,
    ) -> IntArray:
        """Draw the control pieces of a batch and put them before its sources.

        Args:
            source_ids: ``(B, T)`` sources, padded with 0 at the end.
            target_ids: ``(B, U)`` their summaries, padded with 0 at the end.
            set_ids: ``(B,)`` set of each pair.
            rng: Randomness.

        Returns:
            ``(B, T + 2)`` ids, padded with 0 at the end.
        """
        options, n_items = self.options, source_ids.shape[0]
        told_style = rng.random(n_items) < options.style_share
        told_length = rng.random(n_items) < options.length_share
        n_chars = np.where(target_ids != 0, self._piece_chars[target_ids], 0).sum(axis=1)
        n_chars -= self._starts_word[target_ids[:, 0]]  # the first space is no part of a summary
        limit = n_chars * rng.uniform(1.0, options.room, n_items)
        length_ids = self._length_ids[np.searchsorted(LENGTHS, limit)]
        pieces = np.stack(
            [
                np.where(told_style, self._style_ids[set_ids], 0),
                np.where(told_length, length_ids, 0),
            ],
            axis=1,
        )
        joined = np.concatenate([pieces, source_ids], axis=1)
        order = np.argsort(joined == 0, axis=1, kind="stable")
        moved: IntArray = np.take_along_axis(joined, order, axis=1)
        return moved
