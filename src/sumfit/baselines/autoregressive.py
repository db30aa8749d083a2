"""The autoregressive baselines, AT and AT-LenInfo: beam search, then a cut where it is too long.

Owns their options and how a length request becomes the words that AT-LenInfo is told. Does not own
the beam search (`sumfit.baselines.beam_search`) or the cut (`sumfit.baselines.fitting`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sumfit.baselines.base import Baseline, BaselineOptions, Wanted, Written
from sumfit.baselines.beam_search import beam_search
from sumfit.errors import ConfigError, SumfitError
from sumfit.length import LengthRequest, measure
from sumfit.models.autoregressive import Autoregressive, LengthInformed
from sumfit.text import Tokenizer

__all__ = ["AutoregressiveBaseline", "BeamOptions", "pad_sources", "words_asked_for"]


@dataclass(frozen=True, slots=True)
class BeamOptions(BaselineOptions):
    """Options of the autoregressive baselines.

    Attributes:
        beam_size: Hypotheses kept.
        length_penalty: Power of the length that a log-probability is divided by before finished
            hypotheses are compared: 1 for the mean over words, 0 for the sum, which prefers short
            texts.
    """

    beam_size: int = 5
    length_penalty: float = 1.0

    def __post_init__(self) -> None:
        BaselineOptions.__post_init__(self)
        size, penalty = self.beam_size, self.length_penalty
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ConfigError.of("beam_size", size, "must be a whole number of at least 1")
        if isinstance(penalty, bool) or not isinstance(penalty, int | float):
            raise ConfigError.of("length_penalty", penalty, "must be a number")
        if not 0 <= penalty < math.inf:
            raise ConfigError.of("length_penalty", penalty, "must be 0 or more")


class AutoregressiveBaseline(Baseline):
    """AT, and AT-LenInfo where the network is told the length; both soft."""

    method = "beam-search"
    options_type = BeamOptions

    def write(self, wanted: Sequence[Wanted], options: BeamOptions) -> list[Written | SumfitError]:
        """Write summaries of texts of similar length together.

        Args:
            wanted: Texts and requests.
            options: Beam and length penalty.

        Returns:
            What was written for each, as long as the model made it.
        """
        network: Any = self.network
        assert isinstance(network, Autoregressive)
        n_words = None
        if isinstance(network, LengthInformed):
            asked = [words_asked_for(item, self.tokenizer) for item in wanted]
            n_words = torch.tensor(asked, device=self.device)
        found = beam_search(
            network,
            pad_sources([item.source.ids for item in wanted]).to(self.device),
            beam_size=options.beam_size,
            length_penalty=options.length_penalty,
            n_words=n_words,
        )
        return [Written(best.words, best.log_prob, best.score) for best, *_ in found]


def pad_sources(rows: Sequence[Sequence[int]]) -> Tensor:
    """Put token ids of texts into one tensor.

    Args:
        rows: Ids of each text.

    Returns:
        ``(B, T)`` int64, pad 0.
    """
    width = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])


def words_asked_for(wanted: Wanted, tokenizer: Tokenizer) -> int:
    """Say how many words a request comes to, for a network that counts words.

    A limit in another unit is divided by what a word of this source takes of that unit, on
    average, spaces included.

    Args:
        wanted: Text and request.
        tokenizer: For limits in tokens.

    Returns:
        Words, at least 1.
    """
    request, text = wanted.request, wanted.source.text
    if request.unit.counts_words:
        return max(1, request.budget.high)
    return max(1, round(request.budget.high / _units_per_word(text, request, tokenizer)))


def _units_per_word(text: str, request: LengthRequest, tokenizer: Tokenizer) -> float:
    n_words = max(1, len(text.split()))
    return max(1, measure(text, request.unit, tokenizer=tokenizer)) / n_words
