"""Which sentences of a text say most, and how much of that a line says.

Owns `Points`. Does not own how likely each sentence is to hold the point (`sumfit.text.salience`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.text import Tokenizer
from sumfit.text.points import Parts
from sumfit.text.salience import Salience, mean_state, sentence_spans
from sumfit.truth.reading import content_stems

__all__ = ["Points"]


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The sentences of one text, with the chance that each holds its point.

    Attributes:
        chances: ``(S,)``, which sum to 1.
        stems: Stems of the content words of each.
        is_kept: The text is of a kind that is read in its own order alone.
    """

    chances: npt.NDArray[np.float32]
    stems: Sequence[frozenset[str]]
    is_kept: bool = False

    @classmethod
    def of(
        cls,
        parts: Parts | None,
        salience: Salience | None,
        memory: npt.NDArray[np.float32] | None,
        tokenizer: Tokenizer,
        ids: Sequence[int],
    ) -> Points | None:
        """Ask a model which sentences of a text say most.

        Args:
            parts: The text's sentences, if it is open which of them says most.
            salience: The model's layers; ``None`` if it cannot tell.
            memory: What its encoder made of the text, and of the control pieces before it.
            tokenizer: Its tokenizer.
            ids: Vocabulary ids of the text.

        Returns:
            The points; ``None`` where that is not asked, or cannot be told.
        """
        if parts is None or salience is None or memory is None:
            return None
        n_before = len(memory) - len(ids)
        spans = sentence_spans(parts.sentences, tokenizer, ids, n_before)
        if spans is None:
            return None
        scores = salience.scores(memory, spans, parts.sentences, parts.form)
        stems = [content_stems(one) for one in parts.sentences]
        return cls(np.exp(scores), stems, salience.knows_kind(mean_state(memory[n_before:])))

    @property
    def best(self) -> int:
        """Place of the likeliest sentence."""
        return int(self.chances.argmax())

    def share(self, line: str) -> float:
        """Say how much of a line is of the point.

        Args:
            line: A summary of the text.

        Returns:
            The expected share of its content words that the sentence with the point has, 0 to 1.
        """
        own = content_stems(line)
        if not own:
            return 0.0
        shared = [len(own & stems) / len(own) for stems in self.stems]
        return float(np.dot(self.chances, shared))
