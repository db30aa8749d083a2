"""The CTC baseline: exact length control by a dynamic program over alignments, or a prefix beam.

Owns its options and the way from texts to label probabilities to summaries. Does not own the
decoding (`sumfit.decoding.methods.ctc`). Limits are hard: they are part of the search, nothing is
cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sumfit.baselines.base import Baseline, BaselineOptions, Wanted, Written
from sumfit.decoding.methods.ctc import CTC_METHODS, ctc_decode
from sumfit.decoding.options import DEFAULTS
from sumfit.errors import ConfigError, InfeasibleBudgetError, SumfitError
from sumfit.hypothesis import Hypothesis
from sumfit.length import LengthBudget, unit_costs
from sumfit.length.units.words import UNIT as WORDS
from sumfit.models.config import DATConfig
from sumfit.models.ctc import BLANK, CTC
from sumfit.models.dat import vertex_mask
from sumfit.text import Tokenizer

__all__ = ["CTCBaseline", "CTCOptions", "best_of_words", "pad_slots"]

_N_TRIES = 50  # strings of the prefix beam that are measured where the best does not fit


@dataclass(frozen=True, slots=True)
class CTCOptions(BaselineOptions):
    """Options of the CTC baseline.

    Attributes:
        method: ``"alignment"`` for the best single alignment, found exactly, or
            ``"prefix-beam"`` for the string whose alignments together are most probable, found by
            a beam.
        bonus: Score added for each piece, in nats; only matters where the length is not exact.
        beam_size: Prefixes that the prefix beam keeps for each length.
        labels_per_slot: Labels of each slot that the prefix beam tries, and that the search for
            the best alignment looks at first (its result is that of all labels).
    """

    method: str = "alignment"
    bonus: float = DEFAULTS.bonus
    beam_size: int = DEFAULTS.beam_size
    labels_per_slot: int = 5

    def __post_init__(self) -> None:
        BaselineOptions.__post_init__(self)
        if self.method not in CTC_METHODS:
            known = ", ".join(map(repr, CTC_METHODS))
            raise ConfigError.of("method", self.method, f"must be one of {known}")
        bonus = self.bonus
        if (
            isinstance(bonus, bool)
            or not isinstance(bonus, int | float)
            or not math.isfinite(bonus)
        ):
            raise ConfigError.of("bonus", bonus, "must be a finite number")
        for name in ("beam_size", "labels_per_slot"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError.of(name, value, "must be a whole number of at least 1")


class CTCBaseline(Baseline):
    """CTC with length control; hard."""

    method = "ctc"
    options_type = CTCOptions

    def write(self, wanted: Sequence[Wanted], options: CTCOptions) -> list[Written | SumfitError]:
        """Write summaries of texts of similar length together.

        Args:
            wanted: Texts and requests.
            options: Kind of search and its size.

        Returns:
            What was written for each, or why nothing meets its request.
        """
        network: Any = self.network
        assert isinstance(network, CTC)
        rows = [item.source.ids for item in wanted]
        sizes = [n_slots(item, network.config) for item in wanted]
        source_ids, mask = pad_slots(rows, sizes)
        frames = network(source_ids.to(self.device), mask.to(self.device))
        frames = frames.index_fill(2, self._unusable.to(self.device), -math.inf).cpu().numpy()
        written: list[Written | SumfitError] = []
        for item, size, label_logp in zip(wanted, sizes, frames, strict=True):
            try:
                best = self._best(item, label_logp[:size], options)
            except SumfitError as error:
                written.append(error)
                continue
            proof = (best.optimal, best.gap)
            written.append(Written(best.words, best.log_prob, best.score, *proof))
        return written

    @cached_property
    def _unusable(self) -> Tensor:
        """Labels that the search may not use, so that lengths add up to what is measured.

        White space alone, or a byte that is no whole character.
        """
        pieces = enumerate(self.tokenizer.piece_bytes)
        return torch.tensor([i for i, raw in pieces if raw and not _is_word_part(raw)] or [0])

    def _best(
        self, wanted: Wanted, label_logp: npt.NDArray[np.float32], options: CTCOptions
    ) -> Hypothesis:
        """The best string whose text, measured, meets the request."""
        costs = unit_costs(self.tokenizer, wanted.request.unit)
        request: dict[str, Any] = {
            "blank": BLANK,
            "unit_cost": costs.cost,
            "first_cost": costs.first_cost,
            "budget": wanted.request.budget,
            "bonus": options.bonus,
            "beam_size": options.beam_size,
            "labels_per_frame": options.labels_per_slot,
        }
        best = ctc_decode(label_logp, method=options.method, **request).best
        if self._fits(best, wanted):
            return best
        others = ctc_decode(label_logp, method="prefix-beam", n_best=_N_TRIES, **request)
        for other in others:
            if self._fits(other, wanted):
                return other
        raise InfeasibleBudgetError(
            f"none of the {len(others)} best strings measures what was asked for "
            f"({wanted.request.min_length} to {wanted.request.limit} {wanted.request.unit_name}); "
            "change the limit"
        )

    def _fits(self, found: Hypothesis, wanted: Wanted) -> bool:
        text = self.tokenizer.decode(found.words)
        return bool(text) and wanted.request.accepts(text, tokenizer=self.tokenizer)


def _is_word_part(piece: bytes) -> bool:
    try:
        text = piece.decode("utf-8").removeprefix(" ")
    except UnicodeDecodeError:
        return False
    return text.isprintable() and bool(text) and " " not in text


def n_slots(wanted: Wanted, config: DATConfig) -> int:
    """Say how many slots a text has: more than the rule's where a least length needs them.

    Args:
        wanted: Text and request.
        config: Shape of the network.

    Returns:
        Slots.
    """
    n_pieces = wanted.request.unit.pieces_in(wanted.request.budget.low)
    return config.n_vertices(len(wanted.source.ids), at_least=n_pieces)


def pad_slots(rows: Sequence[Sequence[int]], sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Put token ids of texts into one tensor, and mark the slots of each.

    Args:
        rows: Ids of each text.
        sizes: Slots of each text.

    Returns:
        ``(B, T)`` int64 ids, pad 0, and ``(B, S)`` bool, ``True`` = real slot.
    """
    width = max(map(len, rows))
    source_ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    return source_ids, vertex_mask(torch.tensor(sizes), max(sizes))


def best_of_words(
    label_logp: npt.NDArray[np.float32], tokenizer: Tokenizer, n_words: int
) -> tuple[int, ...]:
    """Find the best alignment of exactly a number of words, or of at most it.

    Args:
        label_logp: ``(S, V)`` log-probabilities of labels.
        tokenizer: For what a piece costs.
        n_words: Words wanted.

    Returns:
        Pieces; none if not even one word can be made.
    """
    costs = unit_costs(tokenizer, WORDS)
    for budget in (LengthBudget(exact=n_words), LengthBudget(max=n_words)):
        try:
            return ctc_decode(
                label_logp,
                blank=BLANK,
                unit_cost=costs.cost,
                first_cost=costs.first_cost,
                budget=budget,
                labels_per_frame=CTCOptions().labels_per_slot,
            ).best.words
        except InfeasibleBudgetError:
            continue
    return ()
