"""seqmap-beam for many graphs at once on a torch device.

Owns the batched bound (Eq. A8) and the beam ranked by it (Eq. A9, A10). Probabilities are float32
products with one natural-log scale per layer or prefix. Nothing here waits for the device, except
where words of cost 0 make a layer of the bound refer to itself: then the host asks every few
rounds whether it has settled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sumfit.decoding.marginal import Ending, is_any_ending
from sumfit.decoding.torch_graphs import BatchResult, DAGBatch, batch_costs, batch_marginals
from sumfit.errors import MissingExtraError

try:
    import torch
    from torch import Tensor
except ImportError as error:  # pragma: no cover - depends on the environment
    raise MissingExtraError("torch", "train") from error

__all__ = ["seqmap_beam_batch"]

_MARGIN = 1e-4  # nats by which a score must beat a float32 bound to count as proved
_ROUNDS = 4  # rounds of a self-referring layer between two looks at whether it has settled
_TINY = 1e-30  # least positive bound, relative to its layer: what float32 may have lost


@torch.no_grad()
def seqmap_beam_batch(
    batch: DAGBatch,
    *,
    ending: Ending = "eos",
    bonus: float = 0.0,
    beam_size: int = 20,
    n_best: int = 1,
) -> BatchResult:
    """Search prefixes of all graphs at once, ranked by the bound (Eq. A8-A10).

    One product ``(K, n) x (n, W)`` per distinct cost and one ``(K, n) x (n, n)`` for each word.

    Args:
        batch: The graphs.
        ending: ``"eos"`` or ``"any"``.
        bonus: Score added per word, nats.
        beam_size: ``K``.
        n_best: ``N``.

    Returns:
        The N best of each graph, by exact score.
    """
    any_ending = is_any_ending(ending)
    gain = math.exp(bonus)
    words = batch.word_logp.exp() * gain
    other = batch.other_logp.exp() * gain if batch.other_cost is not None else None
    links = batch.link_logp.exp()
    ends = _ends(batch, any_ending)
    bounds = _bounds(batch, words, links, ends, other)
    search = _Beam(batch, words, links, ends, other, bounds, beam_size, n_best)
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
        over: ``(R, B, n)`` running maximum of the bounds over the layers.
        over_scale: ``(R, B)`` scale of ``over``.
    """

    table: Tensor
    scale: Tensor
    over: Tensor
    over_scale: Tensor


def _classes(cost: Tensor, costs: tuple[int, ...]) -> Tensor:
    """Place of each word's cost among the distinct ones, ``(B, W)``; D for one too dear."""
    known = torch.tensor(costs, dtype=torch.int64, device=cost.device)
    return torch.searchsorted(known, cost)


def _most_by_class(values: Tensor, kind: Tensor, n_classes: int) -> Tensor:
    """Greatest of each row's values in every class: ``(B, n, D)`` from (B, n, W)."""
    most = torch.zeros((*values.shape[:2], n_classes + 1), dtype=values.dtype, device=values.device)
    most.scatter_reduce_(2, kind[:, None].expand_as(values), values, "amax")
    return most[:, :, :n_classes]


def _bounds(
    batch: DAGBatch, words: Tensor, links: Tensor, ends: Tensor, other: Tensor | None
) -> _Bounds:
    """Fill the bounds, layer by layer: one product ``(n, n) x (n, W)`` each."""
    kind = _classes(batch.cost, batch.costs)
    n_classes = len(batch.costs)
    is_free = n_classes > 0 and batch.costs[0] == 0
    free_words = words * (batch.cost == 0)[:, None] if is_free else None
    slack = batch.high - batch.low
    gains: list[Tensor] = []
    leaving: list[Tensor] = []
    layers: list[Tensor] = []
    scales: list[Tensor] = []
    overs: list[Tensor] = []
    over_scales: list[Tensor] = []
    never = torch.full_like(ends[:, 0], -torch.inf)
    for r in range(batch.most + 1):
        values = [ends]
        factors = [torch.where(r <= slack, 0.0, never)]
        for d, cost in enumerate(batch.costs):
            if 0 < cost <= r:
                values.append(gains[r - cost][:, :, d])
                factors.append(scales[r - cost])
        if other is not None and batch.other_cost is not None and 0 < batch.other_cost <= r:
            values.append(leaving[r - batch.other_cost])
            factors.append(over_scales[r - batch.other_cost])
        logs = torch.stack(factors)
        base = logs.amax(0)
        base = torch.where(torch.isinf(base), 0.0, base)
        layer = (torch.stack(values) * (logs - base).exp()[:, :, None]).amax(0)
        if free_words is not None or (other is not None and batch.other_cost == 0):
            leave = other if batch.other_cost == 0 else None
            below = None
            if leave is not None and batch.has_minimum and r > 0:
                below = leaving[r - 1] * (over_scales[r - 1] - base).exp()[:, None]
            layer = _settle(layer, links, free_words, leave, below)
        peak = layer.amax(1)
        is_live = peak > 0
        layer = layer / torch.where(is_live, peak, 1.0)[:, None]
        layer = torch.where(layer > 0, layer.clamp(min=_TINY), layer)
        layers.append(layer)
        scales.append(torch.where(is_live, base + peak.log(), never))
        weighted = links * layer[:, None]
        product = torch.bmm(weighted, words)
        gains.append(_most_by_class(product, kind, n_classes))
        over, over_scale = layer, scales[-1]
        if batch.has_minimum and r > 0:
            over_scale = torch.maximum(over_scales[-1], scales[-1])
            safe = torch.where(torch.isinf(over_scale), 0.0, over_scale)
            over = torch.maximum(
                overs[-1] * (over_scales[-1] - safe).exp()[:, None],
                layer * (scales[-1] - safe).exp()[:, None],
            )
        overs.append(over)
        over_scales.append(over_scale)
        if other is not None:
            leaving.append(torch.bmm(links, (other * over)[:, :, None])[:, :, 0])
    return _Bounds(
        torch.stack(layers), torch.stack(scales), torch.stack(overs), torch.stack(over_scales)
    )


def _settle(
    layer: Tensor,
    links: Tensor,
    free_words: Tensor | None,
    leave: Tensor | None,
    below: Tensor | None,
) -> Tensor:
    """Let a layer refer to itself through words of cost 0 until nothing changes.

    Links go forwards only, so after at most n rounds it has settled.
    """
    start = layer if below is None else torch.maximum(layer, below)
    for done in range(layer.shape[1]):
        before = layer
        layer = start
        if free_words is not None:
            going_on = torch.bmm(links * before[:, None], free_words).amax(2)
            layer = torch.maximum(layer, going_on)
        if leave is not None:
            outside = torch.bmm(links, (leave * before)[:, :, None])[:, :, 0]
            layer = torch.maximum(layer, outside)
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
        other: Tensor | None,
        bounds: _Bounds,
        beam_size: int,
        n_best: int,
    ) -> None:
        size = words.shape[0]
        device = words.device
        self._batch, self._words, self._links, self._ends = batch, words, links, ends
        self._by_word = words.transpose(1, 2).contiguous()
        self._other, self._bounds, self._beam_size = other, bounds, beam_size
        self._kind = _classes(batch.cost, batch.costs)
        self._first_kind = _classes(batch.first_cost, batch.first_costs)
        self._item = torch.arange(size, device=device)[:, None]
        self._reach = batch.first_logp.exp()[:, None]
        self._log_mass = torch.zeros((size, 1), device=device)
        self._rest = batch.high[:, None]
        self._found = torch.full((size, n_best), -torch.inf, device=device)
        self._found_at = torch.full((size, n_best), -1, dtype=torch.int64, device=device)
        self._pruned = torch.full((size,), -torch.inf, device=device)
        self._parents: list[Tensor] = []
        self._columns: list[Tensor] = []

    def is_active(self) -> bool:
        """Whether any prefix is left; the host waits for the device."""
        return bool((self._log_mass > -torch.inf).any())

    def step(self, step: int) -> None:
        """Choose the K best children of every graph."""
        batch = self._batch
        worth, base = self._weigh(step)
        self._bound_outside(step)
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
        self._log_mass = torch.gather(self._log_mass, 1, parent) + peak.log()
        cost = batch.first_cost if step == 0 else batch.cost
        self._rest = torch.gather(self._rest, 1, parent) - torch.gather(cost, 1, column)
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
        score = log_prob + bonus * (sequences >= 0).sum(2)
        score, order = score.sort(dim=1, descending=True, stable=True)
        sequences = torch.gather(sequences, 1, order[:, :, None].expand_as(sequences))
        gap = (self._pruned[:, None] + _MARGIN - score).clamp(min=0.0)
        return BatchResult(
            columns=sequences,
            log_prob=torch.gather(log_prob, 1, order),
            score=score,
            cost=batch_costs(self._batch, sequences),
            gap=gap,
        )

    def _weigh(self, step: int) -> tuple[Tensor, Tensor]:
        """Bound every child (Eq. A9): ``(B, K * W)`` relative to ``exp(base)``, and (B,) base."""
        batch, bounds = self._batch, self._bounds
        costs = batch.first_costs if step == 0 else batch.costs
        kind = self._first_kind if step == 0 else self._kind
        size, n_kept, n = self._reach.shape
        width = batch.word_ids.shape[1]
        device = self._reach.device
        if not costs:
            zeros = torch.zeros((size, n_kept * width), device=device)
            return zeros, torch.zeros(size, device=device)
        rest = self._rest[:, :, None] - torch.tensor(costs, device=device)
        layer = rest.clamp(min=0)
        scale = bounds.scale[layer, self._item[:, :, None]]
        scale = torch.where(rest >= 0, scale + self._log_mass[:, :, None], -torch.inf)
        base = scale.amax((1, 2))
        base = torch.where(torch.isinf(base), 0.0, base)
        weight = (scale - base[:, None, None]).exp()[:, :, :, None]
        share = self._reach[:, :, None] * bounds.table[layer, self._item[:, :, None]] * weight
        worth = torch.bmm(share.reshape(size, n_kept * len(costs), n), self._words)
        worth = worth.reshape(size, n_kept, len(costs), width)
        at = kind.clamp(max=len(costs) - 1)[:, None, None].expand(-1, n_kept, 1, -1)
        worth = torch.gather(worth, 2, at)[:, :, 0] if len(costs) > 1 else worth[:, :, 0]
        worth = torch.where((kind < len(costs))[:, None], worth, 0.0)
        return worth.flatten(1), base

    def _bound_outside(self, step: int) -> None:
        """Count sequences that leave the candidates after a prefix of the beam as pruned."""
        batch, bounds = self._batch, self._bounds
        cost = batch.other_first_cost if step == 0 else batch.other_cost
        if self._other is None or cost is None:
            return
        rest = self._rest - cost
        layer = rest.clamp(min=0)
        value = (self._reach * self._other[:, None] * bounds.over[layer, self._item]).sum(2).log()
        value = value + self._log_mass + bounds.over_scale[layer, self._item]
        value = torch.where((rest >= 0) & ~torch.isnan(value), value, -torch.inf)
        self._pruned = torch.maximum(self._pruned, value.amax(1))

    def _record(self, closed: Tensor, step: int) -> None:
        """Keep the N best finished sequences."""
        at = step * self._beam_size + torch.arange(closed.shape[1], device=closed.device)
        scores = torch.cat([self._found, closed], 1)
        places = torch.cat([self._found_at, at.expand_as(closed)], 1)
        self._found, order = scores.topk(self._found.shape[1], dim=1)
        places = torch.gather(places, 1, order)
        self._found_at = torch.where(torch.isinf(self._found), -1, places)


def _ends(batch: DAGBatch, any_ending: bool) -> Tensor:
    return torch.ones_like(batch.end_logp) if any_ending else batch.end_logp.exp()
