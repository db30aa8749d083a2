"""Padded graphs on a torch device, and the exact scores of sequences in them.

Owns `DAGBatch`, `BatchResult` and the batched marginal. Does not search. Needs torch; the rest
of `sumfit.decoding` does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sumfit.dag import DAG
from sumfit.decoding.costs import check_room, most_spent
from sumfit.decoding.device.words import best_words
from sumfit.decoding.options import DecodeOptions
from sumfit.errors import ConfigError
from sumfit.length import LengthBudget

__all__ = [
    "BatchResult",
    "DAGBatch",
    "DeviceCosts",
    "LEAST_BOUND",
    "batch_costs",
    "batch_marginals",
    "margin_of",
]

LEAST_BOUND = 1e-30
"""Least positive bound, relative to its layer: what float32 may have lost."""

_MARGIN = 1e-4  # nats that float32 loses of a bound
_COARSE = 2e-3  # the same for every product in TF32 or bfloat16


class DeviceCosts:
    """What every word of the vocabulary costs, copied to a device once for many batches."""

    def __init__(
        self,
        unit_cost: npt.NDArray[np.int32],
        first_cost: npt.NDArray[np.int32],
        *,
        device: str | torch.device,
    ) -> None:
        """Copy the costs.

        Args:
            unit_cost: ``(V,)`` cost of each vocabulary id.
            first_cost: ``(V,)`` cost of each id as the first word.
            device: Where to decode.
        """
        place = torch.device(device)
        self.distinct, self.first_distinct = np.unique(unit_cost), np.unique(first_cost)
        self.of_words, self.of_first_words = (
            _on_device(cost, place) for cost in (unit_cost, first_cost)
        )
        self.values, self.first_values = (
            _on_device(cost, place) for cost in (self.distinct, self.first_distinct)
        )

    def reachable(self, n: int, high: int) -> int:
        """Bound what a sequence of ``n`` words within a budget can cost.

        Args:
            n: Most words.
            high: The budget.

        Returns:
            A total that no sequence exceeds, at most ``high``.
        """
        return most_spent(high, n, (self.distinct,), (self.first_distinct,))

    def up_to(self, most: int) -> tuple[int, int]:
        """Count the distinct costs that a budget can pay.

        Args:
            most: The budget.

        Returns:
            How many of ``distinct`` and of ``first_distinct`` are not above it.
        """
        plain = np.searchsorted(self.distinct, most, side="right")
        first = np.searchsorted(self.first_distinct, most, side="right")
        return int(plain), int(first)


@dataclass(frozen=True, slots=True, eq=False)
class DAGBatch:
    """Graphs padded to one size, over their ``n = S - 2`` inner vertices, on one device.

    Attributes:
        word_ids: ``(B, W)`` vocabulary ids of the candidates; anything where padded.
        word_logp: ``(B, n, W)`` natural-log words; ``-inf`` where padded.
        link_logp: ``(B, n, n)`` natural-log links between inner vertices, ``[from, to]``.
        first_logp: ``(B, n)`` natural-log links from the start.
        end_logp: ``(B, n)`` natural-log closing links.
        other_logp: ``(B, n)`` bound on each word that is no candidate.
        cost: ``(B, W)`` cost of each candidate.
        first_cost: ``(B, W)`` cost of each candidate as the first word.
        low: ``(B,)`` least allowed total of each item.
        high: ``(B,)`` most allowed total of each item, at most `most`.
        costs: Distinct costs that a word may have, ascending, none above `most`.
        first_costs: The same for first words.
        cost_values: ``(D,)`` ``costs`` on the device.
        first_cost_values: The same for first words.
        most: Greatest of ``high``, known to the host.
        has_other: Whether any word that is no candidate may have a probability above 0; such a
            word may have any cost in ``costs`` (``first_costs`` as the first word).
    """

    word_ids: Tensor
    word_logp: Tensor
    link_logp: Tensor
    first_logp: Tensor
    end_logp: Tensor
    other_logp: Tensor
    cost: Tensor
    first_cost: Tensor
    low: Tensor
    high: Tensor
    costs: tuple[int, ...]
    first_costs: tuple[int, ...]
    cost_values: Tensor
    first_cost_values: Tensor
    most: int
    has_other: bool

    @classmethod
    def pack(
        cls,
        dags: Sequence[DAG],
        *,
        unit_cost: npt.ArrayLike,
        budgets: Sequence[LengthBudget],
        first_cost: npt.ArrayLike | None = None,
        device: str | torch.device = "cpu",
    ) -> DAGBatch:
        """Pad graphs and move them to a device.

        Args:
            dags: ``B`` graphs over one vocabulary.
            unit_cost: ``(V,)`` cost of each vocabulary id.
            budgets: ``B`` budgets.
            first_cost: ``(V,)`` cost of each id as the first word; ``None`` for ``unit_cost``.
            device: Where to decode.

        Returns:
            The batch.

        Raises:
            ConfigError: If there are no graphs or not one budget for each.
        """
        if not dags or len(dags) != len(budgets):
            raise ConfigError(
                f"a batch needs at least one graph and one budget for each, had {len(dags)} graphs "
                f"and {len(budgets)} budgets"
            )
        options = DecodeOptions(
            unit_cost=unit_cost,  # type: ignore[arg-type]
            budget=budgets[0],
            first_cost=first_cost,  # type: ignore[arg-type]
        )
        for dag in dags:
            options.check_against(dag)
        n = max(1, *(dag.n_vertices - 2 for dag in dags))
        width = max(dag.n_candidates for dag in dags)
        size = len(dags)
        ids = np.zeros((size, width), dtype=np.int64)
        words = np.full((size, n, width), -np.inf, dtype=np.float32)
        links = np.full((size, n, n), -np.inf, dtype=np.float32)
        firsts, ends, others = (np.full((size, n), -np.inf, dtype=np.float32) for _ in range(3))
        for item, dag in enumerate(dags):
            inner, own = dag.n_vertices - 2, dag.n_candidates
            upper = np.triu(np.ones((inner, inner), dtype=bool), 1)
            ids[item, :own] = dag.word_ids
            words[item, :inner, :own] = dag.word_logp[1:-1]
            links[item, :inner, :inner] = np.where(upper, dag.link_logp[1:-1, 1:-1], -np.inf)
            firsts[item, :inner] = dag.link_logp[0, 1:-1]
            ends[item, :inner] = dag.link_logp[1:-1, -1]
            others[item, :inner] = dag.other_logp[1:-1]
        return cls.from_tensors(
            word_ids=torch.from_numpy(ids).to(device),
            word_logp=torch.from_numpy(words).to(device),
            link_logp=torch.from_numpy(links).to(device),
            first_logp=torch.from_numpy(firsts).to(device),
            end_logp=torch.from_numpy(ends).to(device),
            other_logp=torch.from_numpy(others).to(device),
            costs=DeviceCosts(options.unit_cost, options.first_cost, device=device),
            budgets=budgets,
            has_other=bool((others > -np.inf).any()),
        )

    @classmethod
    def from_tensors(
        cls,
        *,
        word_ids: Tensor,
        word_logp: Tensor,
        link_logp: Tensor,
        first_logp: Tensor,
        end_logp: Tensor,
        other_logp: Tensor,
        costs: DeviceCosts,
        budgets: Sequence[LengthBudget],
        has_other: bool = True,
        is_word: Tensor | None = None,
    ) -> DAGBatch:
        """Build a batch from tensors that are on the device already.

        Args:
            word_ids: ``(B, W)`` vocabulary ids, no id twice in a row unless its ``word_logp`` is
                ``-inf`` from the second time on.
            word_logp: ``(B, n, W)`` natural-log words of the inner vertices.
            link_logp: ``(B, n, n)`` natural-log links between inner vertices.
            first_logp: ``(B, n)`` natural-log links from the start.
            end_logp: ``(B, n)`` natural-log closing links.
            other_logp: ``(B, n)`` bound on each word that is no candidate.
            costs: What words cost.
            budgets: ``B`` budgets.
            has_other: Whether any entry of ``other_logp`` may be above ``-inf``.
            is_word: ``(B, W)`` where a candidate is one; everywhere if not given.

        Returns:
            The batch.

        Raises:
            BudgetError: If the table of one graph over every cost would not fit.
        """
        device = word_ids.device
        n = word_logp.shape[1]
        most = costs.reachable(n, max(budget.high for budget in budgets))
        check_room(most, n)
        low = _budgets([min(budget.low, most + 1) for budget in budgets], device)
        high = _budgets([min(budget.high, most) for budget in budgets], device)
        plain, first = costs.up_to(most)
        cost = costs.of_words.clamp(max=most + 1)[word_ids]
        first_cost = costs.of_first_words.clamp(max=most + 1)[word_ids]
        if is_word is not None:  # what costs too much is nowhere looked at
            cost = cost.masked_fill(~is_word, most + 1)
            first_cost = first_cost.masked_fill(~is_word, most + 1)
        return cls(
            word_ids=word_ids,
            word_logp=word_logp,
            link_logp=link_logp,
            first_logp=first_logp,
            end_logp=end_logp,
            other_logp=other_logp,
            cost=cost,
            first_cost=first_cost,
            low=low,
            high=high,
            costs=tuple(costs.distinct[:plain].tolist()),
            first_costs=tuple(costs.first_distinct[:first].tolist()),
            cost_values=costs.values[:plain],
            first_cost_values=costs.first_values[:first],
            most=most,
            has_other=has_other,
        )

    @classmethod
    def from_scores(
        cls,
        word_logp: Tensor,
        link_logp: Tensor,
        n_vertices: Tensor,
        *,
        words_per_vertex: int,
        n_special: int,
        costs: DeviceCosts,
        budgets: Sequence[LengthBudget],
        is_normalised: bool = True,
    ) -> DAGBatch:
        """Build a batch from what a network predicts, without leaving the device.

        The candidates of a graph are the words among the M best of any inner vertex, each once.

        Args:
            word_logp: ``(B, S, V)`` natural-log words of every vertex, any float type; or logits.
            link_logp: ``(B, S, S)`` natural-log links; ``-inf`` where ``to <= from`` or padded.
            n_vertices: ``(B,)`` vertices of each graph; the rest is padding.
            words_per_vertex: ``M``.
            n_special: Ids below this are special and never emitted.
            costs: What words cost.
            budgets: ``B`` budgets.
            is_normalised: Whether ``word_logp`` are log-probabilities; if not, they are logits of
                the words that are not special.

        Returns:
            The batch.
        """
        last = n_vertices[:, None] - 1
        inner = torch.arange(1, word_logp.shape[1] - 1, device=word_logp.device)
        is_real = inner < last
        n_words = word_logp.shape[2]
        top, ids, total = best_words(
            word_logp, n_vertices, words_per_vertex=words_per_vertex, n_special=n_special
        )
        if is_normalised:
            total = torch.zeros_like(total)
        ids = ids.masked_fill(~is_real[:, :, None], n_words)  # sorts behind all words
        ids = ids.flatten(1).sort(dim=1).values
        is_word = ids < n_words
        is_word[:, 1:] &= ids[:, 1:] != ids[:, :-1]
        ids = torch.where(is_word, ids, n_special)
        own = torch.gather(word_logp[:, 1:-1], 2, ids[:, None].expand(-1, inner.shape[0], -1))
        own = own.float() - total[:, :, None]
        own = own.masked_fill(~(is_word[:, None] & is_real[:, :, None]), -torch.inf)
        between = is_real[:, :, None] & is_real[:, None] & (inner[:, None] < inner)
        at_end = last[:, :, None].expand(-1, inner.shape[0], 1)
        ends = torch.gather(link_logp[:, 1:-1], 2, at_end)[:, :, 0].float()
        return cls.from_tensors(
            word_ids=ids,
            word_logp=own.clamp(max=0.0),
            link_logp=link_logp[:, 1:-1, 1:-1].float().masked_fill(~between, -torch.inf),
            first_logp=link_logp[:, 0, 1:-1].float().masked_fill(~is_real, -torch.inf),
            end_logp=ends.masked_fill(~is_real, -torch.inf),
            other_logp=(top[:, :, -1] - total).clamp(max=0.0).masked_fill(~is_real, -torch.inf),
            costs=costs,
            budgets=budgets,
            is_word=is_word,
        )

    @property
    def size(self) -> int:
        """``B``."""
        return int(self.word_ids.shape[0])

    @property
    def most_words(self) -> int:
        """Most words any sequence within the budgets can have, known to the host."""
        n = int(self.word_logp.shape[1])
        cheapest = min(self.costs, default=1)
        if cheapest == 0:
            return n
        rest = self.most - min(self.first_costs, default=0)
        return max(1, min(n, 1 + rest // cheapest))


@dataclass(frozen=True, slots=True, eq=False)
class BatchResult:
    """What a batched search found, still on the device.

    Attributes:
        columns: ``(B, N, T)`` candidate columns of the words, -1 after the end.
        log_prob: ``(B, N)`` exact marginals, float64; ``-inf`` where nothing was found.
        score: ``(B, N)`` what was maximised, float64.
        cost: ``(B, N)`` total costs.
        gap: ``(B, N)`` how much higher the best score can be at most, nats; 0 if proved best.
        vertices: ``(B, N, T)`` graph vertices of the path, -1 after the end; PathMAP only.
    """

    columns: Tensor
    log_prob: Tensor
    score: Tensor
    cost: Tensor
    gap: Tensor
    vertices: Tensor | None = None


def _budgets(values: list[int], device: torch.device) -> Tensor:
    """One number for each item, without waiting for what the device still has to do."""
    if len(set(values)) == 1:
        return torch.full((len(values),), values[0], dtype=torch.int64, device=device)
    return _on_device(values, device)


def _on_device(values: npt.ArrayLike, device: torch.device) -> Tensor:
    made = torch.from_numpy(np.array(values, dtype=np.int64))
    return made.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else made


def batch_marginals(batch: DAGBatch, columns: Tensor, any_ending: bool) -> Tensor:
    """Sum the paths of finished sequences in float64 (Eq. A1-A3).

    Args:
        batch: The graphs.
        columns: ``(B, N, T)`` candidate columns, -1 after the end.
        any_ending: Leave out the closing link.

    Returns:
        ``(B, N)`` natural-log marginals; ``-inf`` for an empty sequence.
    """
    links, ends = batch.link_logp.double().exp(), batch.end_logp.double().exp()
    by_word = batch.word_logp.transpose(1, 2)
    mass = batch.first_logp.double().exp()[:, None].expand(-1, columns.shape[1], -1)
    total = torch.zeros(columns.shape[:2], dtype=torch.float64, device=columns.device)
    for t in range(columns.shape[2]):
        column = columns[:, :, t]
        is_word = column >= 0
        at = column.clamp(min=0)[:, :, None].expand(-1, -1, by_word.shape[2])
        reached = mass if t == 0 else torch.bmm(mass, links)
        grown = reached * torch.gather(by_word, 1, at).double().exp()
        peak = grown.amax(2)
        grown = grown / torch.where(peak > 0, peak, 1.0)[:, :, None]
        mass = torch.where(is_word[:, :, None], grown, mass)
        total = torch.where(is_word, total + peak.log(), total)
    closed = mass.sum(2) if any_ending else (mass * ends[:, None]).sum(2)
    return (total + closed.log()).masked_fill(columns[:, :, 0] < 0, -torch.inf)


def batch_costs(batch: DAGBatch, columns: Tensor) -> Tensor:
    """Add up the cost of sequences.

    Args:
        batch: The graphs.
        columns: ``(B, N, T)`` candidate columns, -1 after the end.

    Returns:
        ``(B, N)`` total costs.
    """
    size, n_best, n_words = columns.shape
    at = columns.clamp(min=0).flatten(1)
    cost = torch.gather(batch.cost, 1, at).reshape(size, n_best, n_words)
    cost[:, :, 0] = torch.gather(batch.first_cost, 1, columns[:, :, 0].clamp(min=0))
    return torch.where(columns >= 0, cost, 0).sum(2)


def margin_of(batch: DAGBatch, unit_bonus: float, *, n_coarse: int = 0) -> float:
    """Bound by how much a bound may be too low: what a score must beat it by to count as proved.

    Args:
        batch: The graphs.
        unit_bonus: Score added per unit of cost, nats.
        n_coarse: How many products, one after the other, are TF32 or bfloat16; 0 if all are
            float32.

    Returns:
        Nats; 2^-19 of the greatest bonus of a sequence among them, for few additions of numbers of
        its size.
    """
    margin = _COARSE * n_coarse if n_coarse else _MARGIN
    return margin + abs(unit_bonus) * batch.most * 2.0**-19
