"""seqmap-beam for many graphs at once on a torch device.

Owns the batched bound (Eq. A8) and the beam ranked by it (Eq. A9, A10). Probabilities are float32
products with one natural-log scale per layer or prefix. Nothing here waits for the device, except
where words of cost 0 make a layer of the bound refer to itself: then the host asks every few
rounds whether it has settled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from sumfit.decoding.device import fused
from sumfit.decoding.device.graphs import (
    LEAST_BOUND,
    BatchResult,
    DAGBatch,
    batch_costs,
    batch_marginals,
    margin_of,
)
from sumfit.decoding.options import DEFAULTS, Ending, is_any_ending

__all__ = ["seqmap_beam_batch"]

_ROUNDS = 4  # rounds of a self-referring layer between two looks at whether it has settled


@torch.no_grad()
def seqmap_beam_batch(
    batch: DAGBatch,
    *,
    ending: Ending = DEFAULTS.ending,
    bonus: float = DEFAULTS.bonus,
    unit_bonus: float = DEFAULTS.unit_bonus,
    beam_size: int = DEFAULTS.beam_size,
    n_best: int = DEFAULTS.n_best,
) -> BatchResult:
    """Search prefixes of all graphs at once, ranked by the bound (Eq. A8-A10).

    One product ``(K, n) x (n, W)`` per distinct cost and one ``(K, n) x (n, n)`` for each word.

    Args:
        batch: The graphs.
        ending: ``"eos"`` or ``"any"``.
        bonus: Score added per word, nats.
        unit_bonus: Score added per unit of cost, nats.
        beam_size: ``K``.
        n_best: ``N``.

    Returns:
        The N best of each graph, by exact score.
    """
    any_ending = is_any_ending(ending)
    if fused.fits(batch, beam_size):
        return fused.fused_beam(
            batch,
            any_ending=any_ending,
            bonus=bonus,
            unit_bonus=unit_bonus,
            beam_size=beam_size,
            n_best=n_best,
        )
    with torch.autocast(batch.word_ids.device.type, enabled=False):
        words = _words(batch) * math.exp(bonus)
        links = batch.link_logp.float().exp()
        ends = _ends(batch, any_ending)
        bounds = _bounds(batch, words, links, ends, unit_bonus)
        search = _Beam(batch, words, links, ends, bounds, unit_bonus, beam_size, n_best)
        n_steps = batch.most_words
        for step in range(n_steps):
            search.step(step)
            if step % 8 == 7 and n_steps > 32 and not search.is_active():
                break
        return search.result(any_ending, bonus)


@dataclass(frozen=True, slots=True, eq=False)
class _Bounds:
    """Bounds of all graphs (Eq. A8) by cost still to spend, each layer with its own scale.

    Attributes:
        table: ``(R, B, n)`` bounds times ``exp(-scale)``.
        scale: ``(R, B)`` natural logs; ``-inf`` for a layer of zeros.
    """

    table: Tensor
    scale: Tensor


def _words(batch: DAGBatch) -> Tensor:
    """Word probabilities, then one column that bounds all other words, then zeros to a round W."""
    width = batch.word_logp.shape[2]
    room = -(-(width + 1) // 8) * 8 - width
    words = torch.nn.functional.pad(batch.word_logp, (0, room), value=-torch.inf).float().exp()
    if batch.has_other:
        words[:, :, width] = batch.other_logp.float().exp()
    return words


def _cost_classes(cost: Tensor, costs: Tensor, width: int) -> Tensor:
    """Place of each column's cost among the distinct ones, ``(B, W')``; D for none of them."""
    cost_class = torch.searchsorted(costs, cost)
    return torch.nn.functional.pad(
        cost_class, (0, width - cost_class.shape[1]), value=costs.shape[0]
    )


def _bounds(
    batch: DAGBatch, words: Tensor, links: Tensor, ends: Tensor, unit_bonus: float
) -> _Bounds:
    """Fill the bounds, layer by layer: one product ``(n, n) x (n, W)`` each."""
    width, n_classes = batch.word_logp.shape[2], len(batch.costs)
    cost_class = _cost_classes(batch.cost, batch.cost_values, words.shape[2])
    is_free = (cost_class == 0)[:, None]
    is_free[:, :, width] = True  # the word that stands for all others may have any cost
    free_words = words * is_free if n_classes and batch.costs[0] == 0 else None
    slack = batch.high - batch.low
    gains: list[Tensor] = []
    layers: list[Tensor] = []
    scales: list[Tensor] = []
    never = torch.full_like(ends[:, 0], -torch.inf)
    for r in range(batch.most + 1):
        values = [ends]
        factors = [torch.where(r <= slack, 0.0, never)]
        for d, cost in enumerate(batch.costs):
            if 0 < cost <= r:
                values.append(gains[r - cost][:, :, d])
                factors.append(scales[r - cost] + unit_bonus * cost)
        logs = torch.stack(factors)
        base = logs.amax(0)
        base = torch.where(torch.isinf(base), 0.0, base)
        layer = (torch.stack(values) * (logs - base).exp()[:, :, None]).amax(0)
        if free_words is not None:
            layer = _settle(layer, links, free_words)
        peak = layer.amax(1)
        is_live = peak > 0
        layer = layer / torch.where(is_live, peak, 1.0)[:, None]
        layer = torch.where(layer > 0, layer.clamp(min=LEAST_BOUND), layer)
        layers.append(layer)
        scales.append(torch.where(is_live, base + peak.log(), never))
        product = torch.bmm(links * layer[:, None], words)
        gains.append(_most_by_class(product, cost_class, n_classes, width))
    return _Bounds(torch.stack(layers), torch.stack(scales))


def _most_by_class(values: Tensor, cost_class: Tensor, n_classes: int, width: int) -> Tensor:
    """Greatest of each row's values in every class of cost, column `width` being in all."""
    if n_classes == 1:
        values = torch.where((cost_class == 0)[:, None], values, values[:, :, width, None])
        return values.amax(2, keepdim=True)
    most = torch.zeros(
        (*values.shape[:2], n_classes + 1), dtype=values.dtype, device=cost_class.device
    )
    most.scatter_reduce_(2, cost_class[:, None].expand_as(values), values, "amax")
    return torch.maximum(most[:, :, :n_classes], values[:, :, width, None])


def _settle(layer: Tensor, links: Tensor, free_words: Tensor) -> Tensor:
    """Let a layer refer to itself through words of cost 0 until nothing changes.

    Links go forwards only, so after at most n rounds it has settled.
    """
    start = layer
    for done in range(layer.shape[1]):
        before = layer
        layer = torch.maximum(start, torch.bmm(links * before[:, None], free_words).amax(2))
        if done % _ROUNDS == _ROUNDS - 1 and torch.equal(layer, before):
            break
    return layer


class _Beam:
    """The beams of all graphs, one word longer at every step."""

    def __init__(
        self,
        batch: DAGBatch,
        words: Tensor,
        links: Tensor,
        ends: Tensor,
        bounds: _Bounds,
        unit_bonus: float,
        beam_size: int,
        n_best: int,
    ) -> None:
        size = words.shape[0]
        device = words.device
        self._batch, self._words, self._links, self._ends = batch, words, links, ends
        self._width = batch.word_logp.shape[2]
        self._by_word = words[:, :, : self._width].transpose(1, 2).contiguous()
        self._bounds, self._unit_bonus, self._beam_size = bounds, unit_bonus, beam_size
        self._kind = torch.searchsorted(batch.cost_values, batch.cost)
        self._first_kind = torch.searchsorted(batch.first_cost_values, batch.first_cost)
        self._item = torch.arange(size, device=device)[:, None]
        self._reach = batch.first_logp.float().exp()[:, None]
        self._log_mass = torch.zeros((size, 1), device=device)
        self._rest = batch.high[:, None]
        self._found = torch.full((size, n_best), -torch.inf, device=device)
        self._found_at = torch.full((size, n_best), -1, dtype=torch.int64, device=device)
        self._pruned = torch.full((size,), -torch.inf, device=device)
        self._parents: list[Tensor] = []
        self._columns: list[Tensor] = []

    def is_active(self) -> bool:
        """Return whether any prefix is left; the host waits for the device."""
        return bool((self._log_mass > -torch.inf).any())

    def step(self, step: int) -> None:
        """Choose the K best children of every graph."""
        batch = self._batch
        worth, base = self._weigh(step)
        floor = (self._found[:, -1] - base).exp()
        worth = torch.where(worth > floor[:, None], worth, 0.0)
        n_kept = min(self._beam_size, worth.shape[1])
        best, at = worth.topk(min(n_kept + 1, worth.shape[1]), dim=1)
        if best.shape[1] > n_kept:
            self._pruned = torch.maximum(self._pruned, best[:, n_kept].log() + base)
        width = batch.word_ids.shape[1]
        parent, column = at[:, :n_kept] // width, at[:, :n_kept] % width
        mass = self._reach[self._item, parent] * self._by_word[self._item, column]
        mass = torch.where(best[:, :n_kept, None] > 0, mass, 0.0)
        peak = mass.amax(2)
        mass = mass / torch.where(peak > 0, peak, 1.0)[:, :, None]
        cost = torch.gather(batch.first_cost if step == 0 else batch.cost, 1, column)
        gain = peak.log() + self._unit_bonus * cost
        self._log_mass = torch.gather(self._log_mass, 1, parent) + gain
        self._rest = torch.gather(self._rest, 1, parent) - cost
        closed = (mass * self._ends[:, None]).sum(2).log() + self._log_mass
        slack = (batch.high - batch.low)[:, None]
        closed = torch.where(self._rest <= slack, closed, -torch.inf)
        self._record(closed, step)
        self._reach = torch.bmm(mass, self._links)
        self._parents.append(parent)
        self._columns.append(column)

    def result(self, any_ending: bool, bonus: float) -> BatchResult:
        """Read the best sequences off the history and score them exactly."""
        step, place = self._found_at // self._beam_size, self._found_at % self._beam_size
        columns: list[Tensor] = []
        for t in range(len(self._columns) - 1, -1, -1):
            is_on = (step >= t) & (self._found_at >= 0)
            place_then = place.clamp(max=self._columns[t].shape[1] - 1)
            columns.append(torch.where(is_on, torch.gather(self._columns[t], 1, place_then), -1))
            place = torch.where(is_on, torch.gather(self._parents[t], 1, place_then), place)
        sequences = torch.stack(columns[::-1], 2)
        log_prob = batch_marginals(self._batch, sequences, any_ending)
        cost = batch_costs(self._batch, sequences)
        score = log_prob + bonus * (sequences >= 0).sum(2) + self._unit_bonus * cost
        score, order = score.sort(dim=1, descending=True, stable=True)
        sequences = torch.gather(sequences, 1, order[:, :, None].expand_as(sequences))
        is_full = torch.get_float32_matmul_precision() == "highest"
        n_coarse = 0 if is_full else len(self._columns)  # the caller may allow TF32 or bfloat16
        margin = margin_of(self._batch, self._unit_bonus, n_coarse=n_coarse)
        gap = (self._pruned[:, None] + margin - score).clamp(min=0.0)
        return BatchResult(
            columns=sequences,
            log_prob=torch.gather(log_prob, 1, order),
            score=score,
            cost=torch.gather(cost, 1, order),
            gap=gap,
        )

    def _weigh(self, step: int) -> tuple[Tensor, Tensor]:
        """Bound every child (Eq. A9): ``(B, K * W)`` relative to ``exp(base)``, and (B,) base.

        Sequences that go on with a word outside the candidates count as pruned here.
        """
        batch, bounds = self._batch, self._bounds
        costs = batch.first_cost_values if step == 0 else batch.cost_values
        cost_class = self._first_kind if step == 0 else self._kind
        size, n_kept, n = self._reach.shape
        n_classes, width = costs.shape[0], self._width
        if n_classes == 0:
            zeros = torch.zeros((size, n_kept * width), device=self._reach.device)
            return zeros, zeros[:, 0]
        rest = self._rest[:, :, None] - costs
        layer = rest.clamp(min=0)
        scale = bounds.scale[layer, self._item[:, :, None]]
        scale = scale + self._unit_bonus * costs + self._log_mass[:, :, None]
        scale = torch.where(rest >= 0, scale, -torch.inf)
        base = scale.amax((1, 2))
        base = torch.where(torch.isinf(base), 0.0, base)
        weight = (scale - base[:, None, None]).exp()[:, :, :, None]
        share = self._reach[:, :, None] * bounds.table[layer, self._item[:, :, None]] * weight
        worth = torch.bmm(share.reshape(size, n_kept * n_classes, n), self._words)
        if batch.has_other:
            outside = worth[:, :, width].amax(1).log() + base
            self._pruned = torch.maximum(self._pruned, outside)
        worth = worth[:, :, :width].reshape(size, n_kept, n_classes, width)
        at = cost_class.clamp(max=n_classes - 1)[:, None, None].expand(-1, n_kept, 1, -1)
        worth = torch.gather(worth, 2, at)[:, :, 0] if n_classes > 1 else worth[:, :, 0]
        worth = torch.where((cost_class < n_classes)[:, None], worth, 0.0)
        return worth.flatten(1), base

    def _record(self, closed: Tensor, step: int) -> None:
        """Keep the N best finished sequences."""
        at = step * self._beam_size + torch.arange(closed.shape[1], device=closed.device)
        scores = torch.cat([self._found, closed], 1)
        places = torch.cat([self._found_at, at.expand_as(closed)], 1)
        self._found, order = scores.topk(self._found.shape[1], dim=1)
        places = torch.gather(places, 1, order)
        self._found_at = torch.where(torch.isinf(self._found), -1, places)


def _ends(batch: DAGBatch, any_ending: bool) -> Tensor:
    ends = batch.end_logp.float()
    return torch.ones_like(ends) if any_ending else ends.exp()
