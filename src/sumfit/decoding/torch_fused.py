"""seqmap-beam in three kernels, on CUDA with triton: the same search as `torch_beam`, much faster.

Owns the layout of the candidates and the launches. Does not own the kernels
(`sumfit.decoding.torch_kernels`) or the choice of when to use them (`sumfit.decoding.torch_beam`).
"""

from __future__ import annotations

from dataclasses import dataclass

from sumfit.decoding.torch_graphs import BatchResult, DAGBatch
from sumfit.decoding.torch_words import has_kernels
from sumfit.errors import MissingExtraError

try:
    import torch
    from torch import Tensor
except ImportError as error:  # pragma: no cover - depends on the environment
    raise MissingExtraError("torch", "train") from error

__all__ = ["fits", "fused_beam"]


_MOST_VERTICES = 128
_MOST_BEAM = 63
_MARGIN = 1e-4  # nats by which a score must beat a float32 bound to count as proved


@dataclass(frozen=True, slots=True)
class Tuning:
    """How the kernels run; for measurements.

    Attributes:
        precision: Of products: ``"ieee"``, ``"tf32x3"`` (as exact, on tensor cores) or ``"tf32"``.
        by_sort: Choose children by sorting; else one after the other.
        bound_warps: Warps a graph for the bound.
        beam_warps: Warps a graph for the beam.
        chunk: Candidates of a tile where all costs are the same.
        small_chunk: The same where they differ.
    """

    precision: str = "ieee"
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
        chunk_cost: ``(B, C)`` int32.
        n_chunks: ``(B,)`` int32 chunks that may come after a first word; the rest only as one.
        n_all_chunks: ``(B,)`` int32 chunks in use.
        n_free: ``(B,)`` int32 chunks of cost 0; they come first.
    """

    source: Tensor
    cost: Tensor
    first_cost: Tensor
    chunk_kind: Tensor
    chunk_cost: Tensor
    n_chunks: Tensor
    n_all_chunks: Tensor
    n_free: Tensor


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
    costs = torch.nn.functional.pad(batch.cost_values, (0, 2), value=never)
    return _Layout(
        source=source.int().contiguous(),
        cost=torch.where(source >= 0, batch.cost.gather(1, at), never).int(),
        first_cost=torch.where(source >= 0, batch.first_cost.gather(1, at), never).int(),
        chunk_kind=chunk_kind.int(),
        chunk_cost=costs[chunk_kind].int(),
        n_chunks=(ends[:, n_kinds - 1] if n_kinds else torch.zeros_like(ends[:, 0])).int(),
        n_all_chunks=ends[:, n_kinds].int(),
        n_free=(ends[:, 0] if n_kinds and batch.costs[0] == 0 else ends[:, 0] * 0).int(),
    )


def fused_beam(
    batch: DAGBatch,
    *,
    any_ending: bool,
    bonus: float,
    beam_size: int,
    n_best: int,
    tuning: Tuning = DEFAULT,
) -> BatchResult:
    """Search prefixes of all graphs at once, ranked by the bound (Eq. A8-A10).

    Args:
        batch: The graphs.
        any_ending: Whether the closing link is left out.
        bonus: Score added per word, nats.
        beam_size: ``K``.
        n_best: ``N``.
        tuning: How the kernels run.

    Returns:
        The N best of each graph, by exact score.
    """
    from sumfit.decoding import torch_kernels as kernels

    size, n, width = batch.word_logp.shape
    device = batch.word_ids.device
    one_kind = len(batch.costs) == 1
    chunk = tuning.chunk if one_kind else tuning.small_chunk
    padded = _power(n, 16)
    rows = _power(beam_size + 1, 16)
    layout = _layout(batch, chunk)
    n_columns = layout.source.shape[1]
    n_chunks = n_columns // chunk
    n_layers, n_kinds, n_steps = batch.most + 1, len(batch.costs), batch.most_words
    new, room = batch.word_logp.new_empty, (0, padded - n)
    word_logp = batch.word_logp.float().contiguous()
    link_logp = batch.link_logp.float().contiguous()
    first_logp, end_logp = (
        batch.first_logp.float().contiguous(),
        batch.end_logp.float().contiguous(),
    )

    by_word = new(size, n_columns, padded, dtype=torch.float32)
    kernels.arrange[(size, n_chunks)](
        word_logp, layout.source, by_word, n, width, n_columns, N=padded, CHUNK=chunk, num_warps=4
    )
    pad = torch.nn.functional.pad
    links = pad(link_logp + bonus, (*room, *room), value=-torch.inf).exp()
    first = pad(first_logp + bonus, room, value=-torch.inf).exp()
    ends = torch.zeros_like(end_logp) if any_ending else end_logp
    ends = pad(ends, room, value=-torch.inf).exp()
    other = pad(batch.other_logp.float(), room, value=-torch.inf).exp()
    table = new(size, n_layers, padded, dtype=torch.float32)
    scale = new(size, n_layers, dtype=torch.float32)
    gains = new(size, n_layers, max(1, n_kinds), padded, dtype=torch.float32)
    low, high = batch.low.int(), batch.high.int()
    shape = {"N": padded, "CHUNK": chunk, "ONE_KIND": one_kind, "HAS_OTHER": batch.has_other}
    kernels.bounds[(size,)](
        by_word, links, ends, other, batch.cost_values, layout.chunk_kind,
        layout.n_chunks, layout.n_free, low, high, table, scale, gains,
        n_layers, n_kinds, n_chunks, **shape,
        HAS_FREE=bool(n_kinds) and batch.costs[0] == 0, TINY=1e-30,
        PRECISION=tuning.precision, num_warps=tuning.bound_warps,
    )  # fmt: skip

    def state(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=device)

    parents = state(n_steps, size, rows, dtype=torch.int32)
    places = torch.empty_like(parents)
    found, pruned = state(size, n_best), state(size)
    found_at = state(size, n_best, dtype=torch.int32)
    kernels.beam[(size,)](
        by_word, links, ends, first, other, table, scale, layout.chunk_cost,
        layout.n_chunks, layout.n_all_chunks, layout.cost, layout.first_cost,
        batch.cost_values, batch.first_cost_values, low, high,
        state(size, rows, padded), state(size, rows), state(size, rows, dtype=torch.int32),
        state(size, rows, n_columns), state(size, n_columns),
        parents, places, found, found_at, pruned,
        n_layers, n_kinds, len(batch.first_costs), n_chunks, n_steps,
        K=beam_size, ROWS=rows, WIDTH=_power(n_columns, rows), N_BEST=n_best,
        BEST_LANES=_power(n_best, 1), BY_SORT=tuning.by_sort, **shape,
        PRECISION=tuning.precision, num_warps=tuning.beam_warps,
    )  # fmt: skip
    columns = state(size, n_best, n_steps, dtype=torch.int64)
    log_prob = state(size, n_best, dtype=torch.float64)
    cost = state(size, n_best, dtype=torch.int64)
    kernels.marginals[(size * n_best,)](
        word_logp, link_logp, end_logp, first_logp, parents, places, found_at,
        layout.source, layout.cost, layout.first_cost, columns, log_prob, cost,
        n, width, n_columns, size, n_steps,
        ANY_ENDING=any_ending, N=padded, ROWS=rows, N_BEST=n_best, num_warps=4,
    )  # fmt: skip
    score = log_prob + bonus * (columns >= 0).sum(2)
    if n_best > 1:
        score, order = score.sort(dim=1, descending=True, stable=True)
        columns = columns.gather(1, order[:, :, None].expand_as(columns))
        log_prob, cost = log_prob.gather(1, order), cost.gather(1, order)
    gap = (pruned[:, None] + _MARGIN - score).clamp(min=0.0)
    return BatchResult(columns=columns, log_prob=log_prob, score=score, cost=cost, gap=gap)


def _power(n: int, least: int) -> int:
    return max(least, 1 << (n - 1).bit_length())
