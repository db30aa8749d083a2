"""seqmap-beam in three kernels, on CUDA with triton: the same search as `device.beam`, much faster.

Owns the layout of the candidates and the launches. Does not own the kernels (`device.kernels`) or
the choice of when to use them (`device.beam`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sumfit.decoding.device.graphs import LEAST_BOUND, BatchResult, DAGBatch, margin_of
from sumfit.decoding.device.words import has_kernels

__all__ = ["fits", "fused_beam"]

_MOST_VERTICES = 128
_MOST_BEAM = 63
_LEAST_WIDTH = 256  # candidates that code is compiled for: few variants


@dataclass(frozen=True, slots=True)
class Tuning:
    """How the kernels run; for measurements.

    Attributes:
        precision: Of products: ``"ieee"``, ``"tf32x3"`` (some 21 bits, on tensor cores) or
            ``"tf32"``; always ``"ieee"`` in graphs of more than 64 vertices, whose tiles do not
            fit otherwise.
        by_sort: Choose children by sorting; else one after the other.
        bound_warps: Warps a graph for the bound, of up to 64 vertices.
        beam_warps: The same for the beam.
        chunk: Candidates of a tile where all costs are the same, in graphs of up to 64 vertices.
        small_chunk: The same everywhere else.
    """

    precision: str = "tf32x3"
    by_sort: bool = False
    bound_warps: int = 8
    beam_warps: int = 8
    chunk: int = 64
    small_chunk: int = 16


DEFAULT = Tuning()


def fits(batch: DAGBatch, beam_size: int) -> bool:
    """Return whether the kernels can take a batch.

    Args:
        batch: The graphs.
        beam_size: ``K``.

    Returns:
        ``True`` on CUDA with triton, for up to 128 inner vertices and a beam of 63.
    """
    if not has_kernels(batch.word_ids):
        return False
    return batch.word_logp.shape[1] <= _MOST_VERTICES and beam_size <= _MOST_BEAM


@dataclass(frozen=True, slots=True)
class _Layout:
    """Columns of each graph sorted by cost, every cost beginning a new chunk.

    Attributes:
        source: ``(B, P)`` int32 candidate column at each place; -1 for none.
        cost: ``(B, P)`` int32.
        first_cost: ``(B, P)`` int32.
        chunk_kind: ``(B, C)`` int32 place of the chunk's cost among the distinct ones.
        kind_end: ``(B, D)`` int32 chunks up to and with those of each distinct cost.
        n_all_chunks: ``(B,)`` int32 chunks in use; those beyond all kinds are for first words.
        payable: ``(R,)`` int32 how many of the distinct costs each cost to spend can pay.
    """

    source: Tensor
    cost: Tensor
    first_cost: Tensor
    chunk_kind: Tensor
    kind_end: Tensor
    n_all_chunks: Tensor
    payable: Tensor


def _layout(batch: DAGBatch, chunk: int) -> _Layout:
    size, width = batch.word_ids.shape
    device = batch.word_ids.device
    n_kinds = len(batch.costs)
    n_chunks = -(-(width + (n_kinds + 1) * (chunk - 1)) // chunk)
    kind = torch.searchsorted(batch.cost_values, batch.cost)
    is_dead = (kind == n_kinds) & (batch.first_cost > batch.most)
    kind = torch.where(is_dead, n_kinds + 1, kind)
    kind, order = kind.sort(dim=1, stable=True)
    kinds = torch.arange(n_kinds + 2, device=device)
    first = torch.searchsorted(kind, kinds.expand(size, -1).contiguous())
    counts = torch.diff(first, append=torch.full_like(first[:, :1], width))
    chunks = (counts + chunk - 1) // chunk
    ends = chunks.cumsum(1)
    place = (ends - chunks).gather(1, kind) * chunk
    place = place + torch.arange(width, device=device) - first.gather(1, kind)
    n_places = n_chunks * chunk
    place = torch.where(kind > n_kinds, n_places, place)  # a place that nobody reads
    source = torch.full((size, n_places + 1), -1, dtype=torch.int64, device=device)
    source = source.scatter_(1, place, order)[:, :-1]
    at = source.clamp(min=0)
    never = batch.most + 1
    chunk_kind = torch.searchsorted(
        ends[:, :-1].contiguous(),
        torch.arange(n_chunks, device=device).expand(size, -1).contiguous(),
        right=True,
    )
    to_spend = torch.arange(batch.most + 1, device=device)
    return _Layout(
        source=source.int().contiguous(),
        cost=torch.where(source >= 0, batch.cost.gather(1, at), never).int(),
        first_cost=torch.where(source >= 0, batch.first_cost.gather(1, at), never).int(),
        chunk_kind=chunk_kind.int(),
        kind_end=ends[:, :n_kinds].int().contiguous(),
        n_all_chunks=ends[:, n_kinds].int(),
        payable=torch.searchsorted(batch.cost_values, to_spend, right=True).int(),
    )


def fused_beam(
    batch: DAGBatch,
    *,
    any_ending: bool,
    bonus: float,
    unit_bonus: float,
    beam_size: int,
    n_best: int,
    tuning: Tuning | None = None,
) -> BatchResult:
    """Search prefixes of all graphs at once, ranked by the bound (Eq. A8-A10).

    Args:
        batch: The graphs.
        any_ending: Whether the closing link is left out.
        bonus: Score added per word, nats.
        unit_bonus: Score added per unit of cost, nats.
        beam_size: ``K``.
        n_best: ``N``.
        tuning: How the kernels run; ``DEFAULT`` if not given.

    Returns:
        The N best of each graph, by exact score.
    """
    tuning = tuning or DEFAULT
    run = _Run(batch, any_ending, bonus, unit_bonus, tuning)
    run.fill_bounds()
    history = run.grow(beam_size, n_best)
    columns, log_prob, cost = run.score(history, n_best)
    score = log_prob + bonus * (columns >= 0).sum(2) + unit_bonus * cost
    if n_best > 1:
        score, order = score.sort(dim=1, descending=True, stable=True)
        columns = columns.gather(1, order[:, :, None].expand_as(columns))
        log_prob, cost = log_prob.gather(1, order), cost.gather(1, order)
    n_coarse = batch.most_words if tuning.precision == "tf32" else 0
    margin = margin_of(batch, unit_bonus, n_coarse=n_coarse)
    gap = (history.pruned[:, None] + margin - score).clamp(min=0.0)
    return BatchResult(columns=columns, log_prob=log_prob, score=score, cost=cost, gap=gap)


@dataclass(frozen=True, slots=True)
class _History:
    """Which child of which prefix was kept at every step.

    Attributes:
        parents: ``(T, B, rows)`` int32.
        places: ``(T, B, rows)`` int32 places in the layout.
        found_at: ``(B, N)`` int32 step and row of the best finished sequences, -1 for none.
        pruned: ``(B,)`` natural-log bound on everything that was given up.
    """

    parents: Tensor
    places: Tensor
    found_at: Tensor
    pruned: Tensor


class _Run:
    """The arrays of one search, padded for the kernels."""

    def __init__(
        self, batch: DAGBatch, any_ending: bool, bonus: float, unit_bonus: float, tuning: Tuning
    ) -> None:
        from sumfit.decoding.device.kernels import arrange

        self.batch, self.tuning = batch, tuning
        self.any_ending, self.unit_bonus = any_ending, unit_bonus
        self.size, self.n, self.width = batch.word_logp.shape
        is_one = len(batch.costs) == 1
        self.padded = _power(self.n, 16)
        # Larger tiles of large graphs do not fit the registers.
        chunk = tuning.chunk if is_one and self.padded <= 64 else tuning.small_chunk
        self.layout = _layout(batch, chunk)
        self.n_columns = self.layout.source.shape[1]
        self.n_chunks = self.n_columns // chunk
        self.n_layers, self.n_kinds = batch.most + 1, len(batch.costs)
        is_large = self.padded > _MOST_VERTICES // 2
        self.shape = {
            "N": self.padded,
            "CHUNK": chunk,
            "HAS_OTHER": batch.has_other,
            "PRECISION": "ieee" if is_large else tuning.precision,
        }
        self.word_logp, self.link_logp, self.first_logp, self.end_logp = (
            part.float().contiguous()
            for part in (batch.word_logp, batch.link_logp, batch.first_logp, batch.end_logp)
        )
        self.low, self.high = batch.low.int(), batch.high.int()
        self.by_word = self.empty(self.size, self.n_columns, self.padded)
        arrange[(self.size, self.n_chunks)](
            self.word_logp, self.layout.source, self.by_word, self.n, self.width, self.n_columns,
            N=self.padded, CHUNK=chunk, num_warps=4,
        )  # fmt: skip
        # The bonus of a word is that of the link before it.
        self.links = self._probability(self.link_logp + bonus, n_axes=2)
        self.first = self._probability(self.first_logp + bonus)
        ends = torch.zeros_like(self.end_logp) if any_ending else self.end_logp
        self.ends = self._probability(ends)
        self.other = self._probability(batch.other_logp.float())
        self.table = self.empty(self.size, self.n_layers, self.padded)
        self.scale = self.empty(self.size, self.n_layers)

    def empty(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Make an array that a kernel will fill."""
        return torch.empty(shape, dtype=dtype, device=self.batch.word_ids.device)

    def warps(self, n: int) -> int:
        """Twice as many for the largest graphs, whose tiles need twice the registers."""
        return n if self.padded <= _MOST_VERTICES // 2 else 2 * n

    def _probability(self, logp: Tensor, n_axes: int = 1) -> Tensor:
        room = (0, self.padded - self.n) * n_axes
        return torch.nn.functional.pad(logp, room, value=-torch.inf).exp()

    def fill_bounds(self) -> None:
        """Fill ``table`` and ``scale`` (Eq. A8)."""
        from sumfit.decoding.device.kernels import bounds

        batch, layout = self.batch, self.layout
        gains = self.empty(self.size, self.n_layers, max(1, self.n_kinds), self.padded)
        bounds[(self.size,)](
            self.by_word, self.links, self.ends, self.other, batch.cost_values,
            layout.chunk_kind, layout.kind_end, layout.payable, self.low, self.high,
            self.table, self.scale, gains, self.unit_bonus, self.n_layers, self.n_kinds,
            self.n_chunks,
            **self.shape, ONE_KIND=self.n_kinds == 1, TINY=LEAST_BOUND,
            HAS_FREE=bool(self.n_kinds) and batch.costs[0] == 0,
            num_warps=self.warps(self.tuning.bound_warps),
        )  # fmt: skip

    def grow(self, beam_size: int, n_best: int) -> _History:
        """Grow the beams of all graphs to their ends (Eq. A9, A10)."""
        from sumfit.decoding.device.kernels_beam import beam

        batch, layout, size = self.batch, self.layout, self.size
        rows, n_steps = _power(beam_size + 1, 16), batch.most_words
        history = _History(
            parents=self.empty(n_steps, size, rows, dtype=torch.int32),
            places=self.empty(n_steps, size, rows, dtype=torch.int32),
            found_at=self.empty(size, n_best, dtype=torch.int32),
            pruned=self.empty(size),
        )
        beam[(size,)](
            self.by_word, self.links, self.ends, self.first, self.other, self.table, self.scale,
            layout.kind_end, layout.payable, layout.n_all_chunks, layout.cost,
            layout.first_cost, batch.cost_values, batch.first_cost_values, self.low, self.high,
            self.empty(size, rows, self.padded), self.empty(size, rows),
            self.empty(size, rows, dtype=torch.int32), self.empty(size, rows, self.n_columns),
            self.empty(size, self.n_columns), history.parents, history.places, history.found_at,
            history.pruned, self.unit_bonus, self.n_layers, self.n_kinds, len(batch.first_costs),
            self.n_chunks, n_steps, K=beam_size, ROWS=rows,
            WIDTH=_power(self.n_columns, _LEAST_WIDTH), N_BEST=n_best,
            BEST_LANES=_power(n_best, 1), BY_SORT=self.tuning.by_sort,
            **self.shape, num_warps=self.warps(self.tuning.beam_warps),
        )  # fmt: skip
        return history

    def score(self, history: _History, n_best: int) -> tuple[Tensor, Tensor, Tensor]:
        """Read the sequences off the history: columns, exact marginals, costs."""
        from sumfit.decoding.device.kernels import marginals

        layout = self.layout
        n_steps, _, rows = history.parents.shape
        columns = self.empty(self.size, n_best, n_steps, dtype=torch.int64)
        log_prob = self.empty(self.size, n_best, dtype=torch.float64)
        cost = self.empty(self.size, n_best, dtype=torch.int64)
        marginals[(self.size * n_best,)](
            self.word_logp, self.link_logp, self.end_logp, self.first_logp, history.parents,
            history.places, history.found_at, layout.source, layout.cost, layout.first_cost,
            columns, log_prob, cost, self.n, self.width, self.n_columns, self.size, n_steps,
            ANY_ENDING=self.any_ending, N=self.padded, ROWS=rows, N_BEST=n_best, num_warps=4,
        )  # fmt: skip
        return columns, log_prob, cost


def _power(n: int, least: int) -> int:
    """The power of two that is at least ``n`` and ``least``."""
    return max(least, 1 << (n - 1).bit_length())
