"""Many graphs decoded in one batch on the backend's device.

Owns which calls can be batched and how their results become candidates. Does not own batched
decoding (`sumfit.decoding.device.batch`), which is imported only when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sumfit.decoding import METHODS
from sumfit.hypothesis import Candidate, NBest
from sumfit.length import LengthRequest, unit_costs
from sumfit.pipeline.bonus import LengthBonus
from sumfit.pipeline.options import Options
from sumfit.pipeline.ranking import Ranking
from sumfit.pipeline.search import GraphSearch, without_proof

__all__ = ["BatchTask", "can_batch", "decode_together"]


class BatchTask(NamedTuple):
    """One graph with its request.

    Attributes:
        search: Graph and options, without constraints.
        request: The length request.
        longest: Most that the summary itself may measure beside the request's limit.
        bonus: Score added for length.
        ranking: Another order than that of the scores.
    """

    search: GraphSearch
    request: LengthRequest
    longest: int
    bonus: LengthBonus
    ranking: Ranking | None = None


def can_batch(options: Options) -> bool:
    """Return whether a call's options allow a batch; it must have no constraints either.

    Args:
        options: The caller's options.

    Returns:
        The verdict.
    """
    return METHODS[options.method].can_batch and options.seed is None


def decode_together(
    tasks: Sequence[BatchTask], *, n_wanted: int, device: str
) -> list[list[Candidate]]:
    """Decode graphs in one batch.

    Args:
        tasks: Graphs with their requests, without constraints.
        n_wanted: Candidates wanted of each.
        device: Torch device.

    Returns:
        For each graph its verified candidates; none where it has to be decoded by itself (other
        unit or bonus than the first, nothing that fits among what was found).
    """
    n_listed = n_wanted
    if tasks and tasks[0].ranking:
        n_listed = tasks[0].ranking.plan.n_listed
    if not tasks or n_wanted > n_listed:
        return []  # more than the reranker's list: what competes is decoded by itself
    from sumfit.decoding.device.batch import decode_batch

    first = tasks[0]
    costs = unit_costs(first.search.tokenizer, first.request.unit)
    same = [
        number
        for number, task in enumerate(tasks)
        if task.request.unit == first.request.unit and task.bonus == first.bonus
    ]
    options = first.search.options
    found = decode_batch(
        [tasks[number].search.dag for number in same],
        unit_cost=costs.cost,
        first_cost=costs.first_cost,
        budget=[
            tasks[number].search.spendable(
                tasks[number].request.budget, tasks[number].longest, costs
            )
            for number in same
        ],
        method=options.method,
        ending=first.search.ending,  # type: ignore[arg-type]
        bonus=first.bonus.per_token,
        unit_bonus=first.bonus.per_unit,
        beam_size=max(options.beam_size, n_listed),
        words_per_vertex=options.words_per_vertex,
        n_best=n_listed,
        device=device,
    )
    results: list[list[Candidate]] = [[] for _ in tasks]
    for number, one in zip(same, found, strict=True):
        if not isinstance(one, NBest):
            continue
        task = tasks[number]
        ranked = task.ranking.order(one) if task.ranking else None
        kept, _ = task.search.verified(
            one, task.request, task.longest, ranked=ranked, n_wanted=n_wanted
        )
        if len(kept) < n_wanted <= len(one) or not task.search.has_enough(kept):
            continue  # some strings failed, or are near-doubles: a longer list may have others
        if not task.search.is_certain(task.request):
            kept = [without_proof(candidate) for candidate in kept]
        results[number] = kept[:n_wanted]
    return results
