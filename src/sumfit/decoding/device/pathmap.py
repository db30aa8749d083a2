"""PathMAP for many graphs at once on a torch device.

Owns the batched dynamic program over (vertex, cost), Eq. A5, and its certificate.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from sumfit.decoding.device.graphs import BatchResult, DAGBatch, batch_marginals
from sumfit.decoding.options import DEFAULTS, Ending, is_any_ending

__all__ = ["path_map_batch"]


@torch.no_grad()
def path_map_batch(
    batch: DAGBatch,
    *,
    ending: Ending = DEFAULTS.ending,
    bonus: float = DEFAULTS.bonus,
    unit_bonus: float = DEFAULTS.unit_bonus,
) -> BatchResult:
    """Find the best path of all graphs at once (Eq. A5), vertex by vertex.

    Time O(n² · C + n · C · D) on each graph, D distinct costs; memory O(n · C).

    Args:
        batch: The graphs.
        ending: ``"eos"`` or ``"any"``.
        bonus: Score added per word, nats.
        unit_bonus: Score added per unit of cost, nats.

    Returns:
        The best path of each graph; its gap covers paths, over the whole vocabulary.
    """
    any_ending = is_any_ending(ending)
    gain = _Gain(bonus, unit_bonus)
    best, column = _best_words(batch, batch.cost, batch.costs, gain)
    opening, opening_column = _opening(batch, gain)
    closing = batch.end_logp.double()
    if any_ending:
        closing = torch.zeros_like(closing)
    table, came_from, came_by = _fill_paths(batch, best, column, opening, opening_column)
    n_costs = batch.most + 1
    spent = torch.arange(n_costs, device=table.device)
    allowed = (spent >= batch.low[:, None]) & (spent <= batch.high[:, None])
    final = (table + closing[:, :, None]).masked_fill(~allowed[:, None], -torch.inf)
    score, at = final.flatten(1).max(dim=1)
    columns, vertices = _walk_back(batch, came_from, came_by, at // n_costs, at % n_costs)
    is_none = torch.isinf(score)
    columns = columns.masked_fill(is_none[:, None], -1)
    log_prob = batch_marginals(batch, columns[:, None], any_ending)
    outside = _path_bound(batch, table, best, closing, gain)
    return BatchResult(
        columns=columns[:, None],
        log_prob=log_prob.masked_fill(is_none[:, None], -torch.inf),
        score=score[:, None],
        cost=(at % n_costs)[:, None],
        gap=(outside - score).clamp(min=0.0)[:, None],
        vertices=vertices.masked_fill(is_none[:, None], -1)[:, None],
    )


class _Gain(NamedTuple):
    """Score that a word adds beside its probability."""

    per_word: float
    per_unit: float

    def of(self, cost: Tensor) -> Tensor:
        """Nats of words of each cost, float64."""
        return self.per_word + self.per_unit * cost.double()


def _best_words(
    batch: DAGBatch, cost: Tensor, costs: tuple[int, ...], gain: _Gain
) -> tuple[Tensor, Tensor]:
    """Best word of each distinct cost at every vertex: ``(B, n, D)`` logs and columns."""
    values, columns = [], []
    for one in costs:
        masked = batch.word_logp.masked_fill((cost != one)[:, None], -torch.inf)
        value, column = masked.max(dim=2)
        values.append(value.double() + (gain.per_word + gain.per_unit * one))
        columns.append(column)
    if not costs:
        shape = (*batch.first_logp.shape, 0)
        empty = torch.empty(shape, dtype=torch.float64, device=cost.device)
        return empty, empty.long()
    return torch.stack(values, 2), torch.stack(columns, 2)


def _opening(batch: DAGBatch, gain: _Gain) -> tuple[Tensor, Tensor]:
    """Paths of one word: ``(B, n, C+1)`` scores and columns."""
    first, first_column = _best_words(batch, batch.first_cost, batch.first_costs, gain)
    shape = (*batch.first_logp.shape, batch.most + 1)
    device = first.device
    opening = torch.full(shape, -torch.inf, dtype=torch.float64, device=device)
    column = torch.zeros(shape, dtype=torch.int64, device=device)
    if batch.first_costs:
        at = batch.first_cost_values
        opening[:, :, at] = batch.first_logp.double()[:, :, None] + first
        column[:, :, at] = first_column
    return opening, column


def _shifts(costs: Tensor, n_costs: int) -> Tensor:
    """Cost before a word of each cost, ``(D, C+1)``; C+1, a place of ``-inf``, where below 0."""
    before = torch.arange(n_costs, device=costs.device)[None] - costs[:, None]
    return torch.where(before < 0, n_costs, before)


def _fill_paths(
    batch: DAGBatch, best: Tensor, column: Tensor, opening: Tensor, opening_column: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Fill the table (Eq. A5): scores, vertex before (-1 for the start) and word, (B, n, C+1)."""
    n, n_costs = opening.shape[1:]
    shifts = _shifts(batch.cost_values, n_costs)
    links = batch.link_logp.double()
    table, came_by = opening.clone(), opening_column.clone()
    came_from = torch.full_like(came_by, -1)
    if not batch.costs:
        return table, came_from, came_by
    for j in range(1, n):
        reach, source = (table[:, :j] + links[:, :j, j, None]).max(dim=1)
        padded = torch.nn.functional.pad(reach, (0, 1), value=-torch.inf)
        value, d = (padded[:, shifts] + best[:, j, :, None]).max(dim=1)  # over (B, D, C+1)
        is_better = value > table[:, j]
        before = torch.gather(shifts.T.expand(len(value), -1, -1), 2, d[:, :, None])[:, :, 0]
        source = torch.gather(source, 1, before.clamp(max=n_costs - 1))
        table[:, j] = torch.where(is_better, value, table[:, j])
        came_from[:, j] = torch.where(is_better, source, came_from[:, j])
        came_by[:, j] = torch.where(is_better, torch.gather(column[:, j], 1, d), came_by[:, j])
    return table, came_from, came_by


def _walk_back(
    batch: DAGBatch, came_from: Tensor, came_by: Tensor, end: Tensor, spent: Tensor
) -> tuple[Tensor, Tensor]:
    """Read paths off the table: ``(B, T)`` columns and graph vertices, -1 after the end."""
    n_steps, n_costs = batch.most_words, came_from.shape[2]
    came_from, came_by = came_from.flatten(1), came_by.flatten(1)
    columns, vertices = [], []
    for _ in range(n_steps):
        is_on = end >= 0
        at = (end.clamp(min=0) * n_costs + spent)[:, None]
        column = torch.gather(came_by, 1, at)[:, 0]
        before = torch.gather(came_from, 1, at)[:, 0]
        columns.append(torch.where(is_on, column, -1))
        vertices.append(torch.where(is_on, end + 1, -1))
        cost = torch.gather(batch.cost, 1, column[:, None])[:, 0]
        spent = torch.where(is_on & (before >= 0), spent - cost, spent)
        end = torch.where(is_on, before, end)
    backwards = torch.stack(columns, 1), torch.stack(vertices, 1)
    n_words = (backwards[0] >= 0).sum(dim=1, keepdim=True)
    place = n_words - 1 - torch.arange(n_steps, device=end.device)[None]
    order = place.clamp(min=0)
    is_word = place >= 0
    return (
        torch.where(is_word, torch.gather(backwards[0], 1, order), -1),
        torch.where(is_word, torch.gather(backwards[1], 1, order), -1),
    )


def _path_bound(
    batch: DAGBatch, table: Tensor, best: Tensor, closing: Tensor, gain: _Gain
) -> Tensor:
    """Bound the score of every path with a word outside the candidates, of any cost."""
    size, n, n_costs = table.shape
    bound = torch.full((size,), -torch.inf, dtype=torch.float64, device=table.device)
    if not batch.has_other:
        return bound
    spent = torch.arange(n_costs, device=table.device)
    is_within = (spent <= batch.high[:, None])[:, None]
    links = batch.link_logp.double()
    other = batch.other_logp.double()
    leaving = other[:, :, None] + gain.of(batch.cost_values)
    over = torch.full_like(table, -torch.inf)
    if batch.first_costs:
        start = (batch.first_logp.double() + other)[:, :, None]
        over[:, :, batch.first_cost_values] = start + gain.of(batch.first_cost_values)
    shifts = _shifts(batch.cost_values, n_costs)
    for j in range(1, n if batch.costs else 1):
        step = links[:, :j, j, None]
        plain = (table[:, :j] + step).amax(1)
        beyond = (over[:, :j] + step).amax(1)
        padded = torch.nn.functional.pad(torch.maximum(plain, beyond), (0, 1), value=-torch.inf)
        leave = (padded[:, shifts] + leaving[:, j, :, None]).amax(1)
        padded = torch.nn.functional.pad(beyond, (0, 1), value=-torch.inf)
        value = (padded[:, shifts] + best[:, j, :, None]).amax(1)
        over[:, j] = torch.maximum(over[:, j], torch.maximum(leave, value))
    final = (over + closing[:, :, None]).masked_fill(~is_within, -torch.inf)
    return final.flatten(1).amax(1)
