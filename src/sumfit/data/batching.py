"""Plan an epoch into length-bucketed batches and gather batches as padded arrays.

Owns sampling, bucketing, cost and padding, all in numpy and without a loop over pairs. Does not
own tensors, devices or threads (`sumfit.training.loader`).

Everything is a function of (corpus, options, seed, epoch): a run that resumes, and a run on
another number of processes, sees the same batches in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.data.candidates import CandidateBatch, Candidates
from sumfit.data.controls import ControlDraw
from sumfit.data.corpus import PackedCorpus
from sumfit.data.denoising import DenoiseOptions, denoise, n_removed
from sumfit.data.flat import gather_rows
from sumfit.data.sets import longer_than_graph
from sumfit.errors import ConfigError

__all__ = [
    "Batch",
    "BatchOptions",
    "EpochPlan",
    "build_batch",
    "merge_plans",
    "plan_epoch",
    "usable_items",
]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Size and padding of batches, and the rule for the size of a graph.

    Attributes:
        batch_tokens: Cost of a batch, padding included. A pair costs
            ``T + S + S * S / square_tokens`` tokens.
        square_tokens: How much the square of the graph weighs: S² divided by this counts as
            tokens.
        pad_multiple: ``T`` and ``S`` of a batch are padded to multiples of this, ``U`` to half.
        max_items: Most pairs in a batch.
        vertex_scale: Graph vertices per source piece.
        min_vertices: Smallest graph.
        max_vertices: Largest graph.
        max_source: Pieces at which sources are cut.
    """

    batch_tokens: int = 32768
    square_tokens: float = 128.0
    pad_multiple: int = 8
    max_items: int = 4096
    vertex_scale: float = 1.0
    min_vertices: int = 32
    max_vertices: int = 128
    max_source: int = 192

    def __post_init__(self) -> None:
        for name in ("batch_tokens", "square_tokens", "pad_multiple", "max_items", "max_source"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, was {getattr(self, name)}")

    def n_vertices(self, n_source: IntArray) -> IntArray:
        """Say how many vertices the graphs of texts have, start and end included.

        Args:
            n_source: Source pieces, any shape.

        Returns:
            clamp(ceil(scale x pieces), min, max), same shape.
        """
        wanted = np.ceil(self.vertex_scale * n_source).astype(np.int64)
        n_vertices: IntArray = np.clip(wanted, self.min_vertices, self.max_vertices)
        return n_vertices

    def cost(self, n_source: IntArray) -> npt.NDArray[np.float64]:
        """Say what a pair of a batch costs whose longest source has so many pieces.

        Args:
            n_source: Source pieces, any shape.

        Returns:
            Tokens, same shape.
        """
        padded = self._pad(n_source)
        n_vertices = self._pad(self.n_vertices(n_source)).astype(np.float64)
        return padded + n_vertices + n_vertices**2 / self.square_tokens

    def too_costly(self, n_source: int) -> str:
        """Say whether one pair alone costs more than a batch.

        Args:
            n_source: Pieces of the longest source.

        Returns:
            What is wrong and what to do; empty if a batch has room for it.
        """
        cost = float(self.cost(np.array([n_source]))[0])
        if cost <= self.batch_tokens:
            return ""
        return (
            f"one pair of the longest source costs {cost:.0f} tokens, more than batch_tokens "
            f"{self.batch_tokens}; raise batch_tokens or lower max_source"
        )

    def _pad(self, length: IntArray) -> IntArray:
        return -(-length // self.pad_multiple) * self.pad_multiple


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pairs as padded arrays; ids are padded with 0.

    Attributes:
        source_ids: ``(B, T)`` int64.
        target_ids: ``(B, U)`` int64, without begin and end marks.
        n_vertices: ``(B,)`` int64 graph vertices of each text, start and end included.
        vertex_mask: ``(B, S)`` bool, ``True`` = real vertex.
        items: ``(B,)`` places in the corpus.
        candidates: Their candidates, if they are trained on.
    """

    source_ids: IntArray
    target_ids: IntArray
    n_vertices: IntArray
    vertex_mask: npt.NDArray[np.bool_]
    items: IntArray
    candidates: CandidateBatch | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EpochPlan:
    """The batches of one epoch, in order.

    Attributes:
        items: Places in the corpus, batch after batch.
        bounds: ``(n_batches + 1,)`` where each batch begins in ``items``.
        n_targets: ``(n_batches,)`` target pieces of each batch.
        is_denoising: ``(n_batches,)`` bool, whether targets are removed spans of the source.
    """

    items: IntArray
    bounds: IntArray
    n_targets: IntArray
    is_denoising: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.bounds.shape[0]) - 1

    def batch_items(self, index: int) -> IntArray:
        """Say which pairs a batch holds.

        Args:
            index: Place of the batch; beyond the last one it wraps round.

        Returns:
            ``(B,)`` places in the corpus.
        """
        index %= len(self)
        return self.items[self.bounds[index] : self.bounds[index + 1]]

    def n_steps(self, group: int) -> int:
        """Count the steps of an epoch that takes ``group`` batches a step.

        Args:
            group: Batches of one step, over all processes and accumulation.

        Returns:
            Steps; the last one is filled up with the first batches.
        """
        return -(-len(self) // group)

    def step_targets(self, step: int, group: int) -> int:
        """Count the target pieces of a step, over all processes.

        Args:
            step: Step of the epoch, from 0.
            group: Batches of one step.

        Returns:
            Target pieces.
        """
        places = np.arange(step * group, (step + 1) * group) % len(self)
        return int(self.n_targets[places].sum())


def usable_items(
    corpus: PackedCorpus, options: BatchOptions, *, profiles: Sequence[str] = ()
) -> tuple[IntArray, dict[str, int]]:
    """Find the pairs that a model with this graph can be trained on.

    Args:
        corpus: The corpus.
        options: Rule for the graph.
        profiles: Text profiles to keep; all if empty.

    Returns:
        Places of the usable pairs, ascending, and the number left out by reason.
    """
    n_source = np.minimum(corpus.source_lengths, options.max_source)
    too_long = corpus.target_lengths > options.n_vertices(n_source) - 2
    empty = (n_source == 0) | (corpus.target_lengths == 0)
    weights = np.array([entry.weight for entry in corpus.meta.sets])[corpus.set_ids]
    other = np.zeros(len(corpus), dtype=bool)
    if profiles:
        wanted = np.array([entry.profile in profiles for entry in corpus.meta.sets])
        other = ~wanted[corpus.set_ids]
    smallest, largest = options.n_vertices(np.array([1, options.max_source]))
    dropped = {
        f"summary {longer_than_graph(int(smallest), int(largest))}": int(
            (too_long & ~empty & ~other).sum()
        ),
        "empty": int((empty & ~other).sum()),
        "of another text profile": int(other.sum()),
        "of a set with weight 0": int(((weights == 0) & ~other).sum()),
    }
    usable = np.flatnonzero(~(too_long | empty | other | (weights == 0)))
    return usable, {reason: count for reason, count in dropped.items() if count}


def plan_epoch(
    corpus: PackedCorpus,
    options: BatchOptions,
    *,
    items: IntArray,
    weights: npt.NDArray[np.float64],
    seed: int,
    epoch: int,
    denoising: DenoiseOptions | None = None,
) -> EpochPlan:
    """Draw, sort and cut the pairs of one epoch into batches, all of one kind.

    A pair of weight w comes floor(w) times, and once more with probability w - floor(w). Pairs
    are shuffled, sorted by padded source length and then summary length, cut into batches of
    equal cost, and the batches are shuffled. Time O(N log N).

    Args:
        corpus: The corpus.
        options: Size of batches.
        items: ``(n,)`` places of usable pairs.
        weights: ``(n,)`` their weights.
        seed: Seed of the run.
        epoch: Number of the epoch.
        denoising: If given, targets are removed spans of the source, and their lengths count.

    Returns:
        The plan.

    Raises:
        ConfigError: If no pair is drawn, or one pair alone costs more than a batch.
    """
    rng = np.random.default_rng((seed, epoch))
    repeats = np.floor(weights).astype(np.int64)
    repeats += rng.random(weights.shape[0]) < weights - repeats
    drawn = np.repeat(items, repeats)
    if drawn.shape[0] == 0:
        raise ConfigError("the corpus has no usable pair with a weight above 0; see the report")
    rng.shuffle(drawn)
    n_source = np.minimum(corpus.source_lengths[drawn], options.max_source)
    n_target = corpus.target_lengths[drawn]
    if denoising is not None:
        n_target = n_removed(n_source, denoising)
    width = options.pad_multiple
    order = np.lexsort((-(-n_target * 2 // width), -(-n_source // width)))
    drawn, n_source, n_target = drawn[order], n_source[order], n_target[order]
    if problem := options.too_costly(int(n_source[-1])):
        raise ConfigError(problem)
    bounds = _cut(options.cost(n_source), options)
    flags = np.full(bounds.shape[0] - 1, denoising is not None)
    n_targets = np.add.reduceat(n_target, bounds[:-1])
    return _reorder(EpochPlan(drawn, bounds, n_targets, flags), rng)


def merge_plans(first: EpochPlan, second: EpochPlan, *, seed: int, epoch: int) -> EpochPlan:
    """Mix the batches of two plans.

    Args:
        first: A plan.
        second: Another plan over the same corpus.
        seed: Seed of the run.
        epoch: Number of the epoch.

    Returns:
        The batches of both, in random order.
    """
    joined = EpochPlan(
        np.concatenate([first.items, second.items]),
        np.concatenate([first.bounds, second.bounds[1:] + first.bounds[-1]]),
        np.concatenate([first.n_targets, second.n_targets]),
        np.concatenate([first.is_denoising, second.is_denoising]),
    )
    return _reorder(joined, np.random.default_rng((seed, epoch, 1)))


def build_batch(
    corpus: PackedCorpus,
    items: IntArray,
    options: BatchOptions,
    *,
    denoising: DenoiseOptions | None = None,
    rng: np.random.Generator | None = None,
    candidates: Candidates | None = None,
    controls: ControlDraw | None = None,
) -> Batch:
    """Gather pairs into padded arrays.

    Args:
        corpus: The corpus.
        items: ``(B,)`` places of the pairs.
        options: Padding and graph rule.
        denoising: If given, targets are removed spans of the source.
        rng: Randomness of denoising and of control pieces; always the same if ``None``.
        candidates: If given, those of the pairs that fit into their graphs come along.
        controls: If given, control pieces are put before the sources.

    Returns:
        The batch.
    """
    rng = rng or np.random.default_rng(0)
    longest = options.max_source - (0 if controls is None else controls.n_pieces)
    n_source = np.minimum(corpus.source_lengths[items], longest)
    source_ids = gather_rows(corpus.source_tokens, corpus.source_offsets[items], n_source)
    if denoising is None:
        n_target = corpus.target_lengths[items]
        target_ids = gather_rows(corpus.target_tokens, corpus.target_offsets[items], n_target)
    else:
        source_ids, target_ids = denoise(source_ids, n_source, denoising, rng)
    if controls is not None and denoising is None:
        source_ids = controls.before(source_ids, target_ids, corpus.set_ids[items], rng)
    n_source = (source_ids != 0).sum(axis=1)
    n_vertices = options.n_vertices(n_source)
    half = max(1, options.pad_multiple // 2)
    size = int(n_vertices.max())
    size = min(-(-size // options.pad_multiple) * options.pad_multiple, options.max_vertices)
    listed = None
    if candidates is not None:
        listed = candidates.gather(items, longest=n_vertices - 2, multiple=half)
    return Batch(
        source_ids=_pad_columns(source_ids, options.pad_multiple, options.max_source),
        target_ids=_pad_columns(target_ids, half, None),
        n_vertices=n_vertices,
        vertex_mask=np.arange(size) < n_vertices[:, None],
        items=items,
        candidates=listed,
    )


def _cut(cost: npt.NDArray[np.float64], options: BatchOptions) -> IntArray:
    """Bounds of batches over pairs sorted by ascending cost."""
    budget, n_pairs = options.batch_tokens, cost.shape[0]
    bounds = [0]
    while bounds[-1] < n_pairs:
        start = bounds[-1]
        end = min(start + min(int(budget / cost[start]), options.max_items), n_pairs)
        while (end - start) * cost[end - 1] > budget:
            end = start + max(1, int(budget / cost[end - 1]))
        if end < n_pairs and end - start > 8:
            end -= (end - start) % 8
        bounds.append(end)
    return np.array(bounds, dtype=np.int64)


def _reorder(plan: EpochPlan, rng: np.random.Generator) -> EpochPlan:
    """Shuffle the batches of a plan."""
    order = rng.permutation(len(plan))
    sizes = np.diff(plan.bounds)[order]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    places = np.repeat(plan.bounds[:-1][order], sizes) + within
    return EpochPlan(plan.items[places], starts, plan.n_targets[order], plan.is_denoising[order])


def _pad_columns(ids: IntArray, multiple: int, limit: int | None) -> IntArray:
    width = -(-ids.shape[1] // multiple) * multiple
    if limit is not None:
        width = max(ids.shape[1], min(width, limit))
    return np.pad(ids, ((0, 0), (0, width - ids.shape[1])))
