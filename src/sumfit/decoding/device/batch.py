"""Batched decoding on a torch device, from graphs to n-best lists.

Owns `decode_batch`; re-exports the device-side parts for who has the graphs on the device
already. Results are those of the CPU versions of the same method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from sumfit.dag import DAG
from sumfit.decoding.device.beam import seqmap_beam_batch
from sumfit.decoding.device.graphs import BatchResult, DAGBatch, DeviceCosts
from sumfit.decoding.device.pathmap import path_map_batch
from sumfit.decoding.methods.seqmap import seqmap
from sumfit.decoding.options import DEFAULTS, DecodeOptions, Ending
from sumfit.decoding.problem import keep_best_words
from sumfit.decoding.registry import METHODS
from sumfit.errors import ConfigError, InfeasibleBudgetError
from sumfit.hypothesis import Hypothesis, NBest
from sumfit.length import LengthBudget

__all__ = [
    "BatchResult",
    "DAGBatch",
    "DeviceCosts",
    "Fetched",
    "decode_batch",
    "fetch",
    "path_map_batch",
    "read_back",
    "seqmap_beam_batch",
]


def decode_batch(
    dags: Sequence[DAG],
    *,
    unit_cost: npt.ArrayLike,
    budget: LengthBudget | Sequence[LengthBudget],
    method: str = "seqmap-beam",
    first_cost: npt.ArrayLike | None = None,
    ending: Ending = DEFAULTS.ending,
    bonus: float = DEFAULTS.bonus,
    unit_bonus: float = DEFAULTS.unit_bonus,
    beam_size: int = DEFAULTS.beam_size,
    words_per_vertex: int | None = DEFAULTS.words_per_vertex,
    n_best: int = DEFAULTS.n_best,
    certify: bool = False,
    device: str | torch.device = "cpu",
) -> list[NBest | InfeasibleBudgetError]:
    """Decode many graphs at once; see `sumfit.decoding.decode` for the options.

    Args:
        dags: ``B`` graphs over one vocabulary.
        unit_cost: ``(V,)`` cost of each vocabulary id.
        budget: One budget for all graphs, or one for each.
        method: ``"seqmap-beam"`` or ``"pathmap"``.
        first_cost: ``(V,)`` cost of each id as the first word; ``None`` for ``unit_cost``.
        ending: ``"eos"`` or ``"any"``.
        bonus: Score added per word, nats.
        unit_bonus: Score added per unit of cost, nats.
        beam_size: ``K``.
        words_per_vertex: ``M``, words kept per vertex for the beam; ``None`` for all candidates.
        n_best: Most hypotheses of the beam for each graph; PathMAP gives one.
        certify: Hand what the beam cannot certify, or finds no sequence for, to exact search on
            the CPU; those results have ``method == "seqmap"``, so their share can be counted.
        device: Where to decode.

    Returns:
        ``B`` results in order; an item that no sequence meets has its error in place of a list.

    Raises:
        ConfigError: If the method cannot run in batches.
    """
    budgets = [budget] * len(dags) if isinstance(budget, LengthBudget) else list(budget)
    whole = dags
    if method == "seqmap-beam" and words_per_vertex is not None:
        dags = [keep_best_words(dag, words_per_vertex) for dag in dags]
    batch = DAGBatch.pack(
        dags, unit_cost=unit_cost, budgets=budgets, first_cost=first_cost, device=device
    )
    options = DecodeOptions(
        unit_cost=unit_cost,  # type: ignore[arg-type]
        budget=budgets[0],
        first_cost=first_cost,  # type: ignore[arg-type]
        ending=ending,
        bonus=bonus,
        unit_bonus=unit_bonus,
        beam_size=beam_size,
        words_per_vertex=words_per_vertex,
        n_best=n_best,
    )
    result = _search(batch, method, options)
    found = read_back(fetch(result, batch.word_ids), budgets=budgets, method=method)
    if certify and method == "seqmap-beam":
        for item, of_beam in enumerate(found):
            if not isinstance(of_beam, NBest) or not all(one.optimal for one in of_beam):
                found[item] = _exact(whole[item], options.replace(budget=budgets[item]))
    return found


def _search(batch: DAGBatch, method: str, options: DecodeOptions) -> BatchResult:
    if method not in METHODS or not METHODS[method].can_batch:
        known = ", ".join(sorted(name for name, row in METHODS.items() if row.can_batch))
        raise ConfigError.of("method", method, f"must be one of {known} in batches")
    ending, bonus, unit_bonus = options.ending, options.bonus, options.unit_bonus
    if method == "pathmap":
        return path_map_batch(batch, ending=ending, bonus=bonus, unit_bonus=unit_bonus)
    return seqmap_beam_batch(
        batch,
        ending=ending,
        bonus=bonus,
        unit_bonus=unit_bonus,
        beam_size=options.beam_size,
        n_best=options.n_best,
    )


def _exact(dag: DAG, options: DecodeOptions) -> NBest | InfeasibleBudgetError:
    try:
        return seqmap(dag, options=options)
    except InfeasibleBudgetError as error:
        return error


@dataclass(frozen=True, slots=True, eq=False)
class Fetched:
    """What a search found, on its way to the host.

    Attributes:
        words: ``(B, N, T)`` vocabulary ids, -1 after the end.
        log_prob: ``(B, N)`` as in `BatchResult`, and so is the rest.
        score: ``(B, N)``.
        cost: ``(B, N)``.
        gap: ``(B, N)``.
        vertices: ``(B, N, T)``; ``None`` unless of PathMAP.
        ready: Set once all of it has arrived; ``None`` if it has.
    """

    words: torch.Tensor
    log_prob: torch.Tensor
    score: torch.Tensor
    cost: torch.Tensor
    gap: torch.Tensor
    vertices: torch.Tensor | None
    ready: torch.cuda.Event | None


def fetch(result: BatchResult, word_ids: torch.Tensor) -> Fetched:
    """Begin to copy what a search found to the host, once the device has found it.

    Nothing waits for the copies before `read_back`.

    Args:
        result: What it found.
        word_ids: ``(B, W)`` candidates of its graphs.

    Returns:
        The copies.
    """

    def copy(part: torch.Tensor) -> torch.Tensor:
        return part.to("cpu", non_blocking=True)

    at = result.columns.clamp(min=0).flatten(1)
    words = torch.gather(word_ids, 1, at).view_as(result.columns)
    copies = {
        "words": copy(words.masked_fill(result.columns < 0, -1)),
        "log_prob": copy(result.log_prob),
        "score": copy(result.score),
        "cost": copy(result.cost),
        "gap": copy(result.gap),
    }
    vertices = None if result.vertices is None else copy(result.vertices)
    ready = None
    if result.columns.is_cuda:
        ready = torch.cuda.Event()  # type: ignore[no-untyped-call]
        ready.record(torch.cuda.current_stream(result.columns.device))
    return Fetched(**copies, vertices=vertices, ready=ready)


def read_back(
    fetched: Fetched, *, budgets: Sequence[LengthBudget], method: str
) -> list[NBest | InfeasibleBudgetError]:
    """Wait for what a search found, and make hypotheses of it.

    Args:
        fetched: What it found.
        budgets: ``B`` budgets.
        method: Name of the method, for the lists.

    Returns:
        ``B`` lists of hypotheses, best first; an error in place of an empty one.
    """
    if fetched.ready is not None:
        fetched.ready.synchronize()
    words = fetched.words.tolist()
    vertices = None if fetched.vertices is None else fetched.vertices.tolist()
    scores, log_probs = fetched.score.tolist(), fetched.log_prob.tolist()
    costs, gaps = fetched.cost.tolist(), fetched.gap.tolist()
    lists: list[NBest | InfeasibleBudgetError] = []
    for item, budget in enumerate(budgets):
        found = []
        for place, score in enumerate(scores[item]):
            if score == -np.inf:
                continue
            own = [word for word in words[item][place] if word >= 0]
            path = None if vertices is None else tuple(vertices[item][place][: len(own)])
            found.append(
                Hypothesis(
                    words=tuple(own),
                    log_prob=log_probs[item][place],
                    score=score,
                    cost=costs[item][place],
                    path=path,
                    optimal=gaps[item][place] == 0.0,
                    gap=gaps[item][place],
                )
            )
        if found:
            lists.append(NBest(tuple(found), method=method))
        else:
            lists.append(
                InfeasibleBudgetError(
                    f"no sequence of graph {item} costs {budget}; "
                    "raise the limit, lower the minimum or ask for another unit"
                )
            )
    return lists
