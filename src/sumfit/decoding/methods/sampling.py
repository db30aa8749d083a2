"""Random and diverse sequences of a graph, given the length.

Owns exact sampling from all sequences within the budget (backward sums, Eq. A11), the total mass
of those sequences, and the choice of a diverse list. Methods ``sample`` and ``diverse``. Words
that are no candidates of the graph are never drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.kernels import sampling as kernels
from sumfit.decoding.methods.seqmap import seqmap
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, as_hypotheses, infeasible
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["MAX_OVERLAP", "PathSampler", "diverse", "overlap", "pick_diverse", "sample"]

MAX_OVERLAP = 0.5
"""Most that two members of a diverse list may share, by `overlap`."""

_ROUNDS = 20  # batches of draws before `sample` settles for fewer different sequences
_AT_ONCE = 32  # draws between two looks at the clock
_POOL = 50  # draws per wanted member of a diverse list


class PathSampler:
    """Draws from the paths within a budget, each with probability proportional to exp(score).

    The score of a path is its log-probability plus bonus; so with bonus 0 a drawn
    sequence y comes with probability P(y | its cost lies in the budget), exactly.

    Attributes:
        problem: The graph and its options as arrays.
        log_mass: Natural log of the sum of ``exp(score)`` over all paths within the budget; with
            bonus 0 the log-probability that the model's output meets the budget.
    """

    problem: SearchProblem
    log_mass: float

    def __init__(self, dag: DAG, options: DecodeOptions) -> None:
        """Compute the backward sums. Time O(C · S² + S · W), memory O(C · S).

        Args:
            dag: The graph.
            options: Costs, budget, ending, bonus and seed.

        Raises:
            InfeasibleBudgetError: If no sequence meets the budget.
        """
        problem = SearchProblem.build(dag, options)
        problem.check_budget(dag.n_vertices)
        self.problem = problem
        self._generator = np.random.default_rng(options.seed)
        self._closing = np.zeros(dag.n_vertices)
        if not problem.any_ending:
            self._closing = problem.link_logp[:, -1].astype(np.float64)
        self._costs, self._summed = self._mass(problem.cost)
        self._first_costs, self._first_summed = self._mass(problem.first)
        self._after, self._through, self._opening = kernels.backward_sums(
            problem.link_logp,
            self._closing,
            self._summed,
            self._costs,
            self._first_summed,
            self._first_costs,
            problem.high,
            problem.high - problem.low,
        )
        self.log_mass = float(np.logaddexp.reduce(self._opening))
        if self.log_mass == -np.inf:
            raise infeasible(problem)

    def draw(self, n: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Draw independent paths.

        Args:
            n: How many.

        Returns:
            ``n`` pairs of vocabulary ids and vertices; sequences may repeat.
        """
        problem = self.problem
        columns, vertices = kernels.draw_paths(
            self._generator,
            n,
            problem.link_logp,
            self._closing,
            problem.word_logp,
            problem.cost,
            problem.first,
            self._summed,
            self._costs,
            self._first_summed,
            self._first_costs,
            self._after,
            self._through,
            self._opening,
            problem.high,
            problem.high - problem.low,
        )
        lengths = (columns >= 0).sum(axis=1).tolist()
        return [
            (problem.words_of(words[:n_words]), tuple(path[:n_words]))
            for words, path, n_words in zip(
                columns.tolist(), vertices.tolist(), lengths, strict=True
            )
        ]

    def draws(self, n: int) -> Iterator[tuple[int, ...]]:
        """Draw independent sequences, a few at a time, until half of the time is over.

        The other half is for their scores.

        Args:
            n: How many at most.

        Yields:
            Vocabulary ids of each.
        """
        deadline = self.problem.options.running
        early = deadline.part(1 / 2)
        for begin in range(0, n, _AT_ONCE):
            if begin and early.is_over:
                deadline.stop()
                return
            for words, _ in self.draw(min(_AT_ONCE, n - begin)):
                yield words

    def _mass(
        self, cost: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        costs = np.unique(cost[cost <= self.problem.high])
        options = self.problem.options
        bonus = np.asarray(options.bonus + options.unit_bonus * costs, dtype=np.float64)
        return costs, kernels.mass_by_cost(self.problem.word_logp, cost, costs, bonus)


def sample(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Draw sequences at random given the budget, until ``n_best`` different ones are found.

    Sequences come with probability proportional to ``exp(score)`` among all that meet the
    budget; see `PathSampler`. The same seed gives the same list.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus, ``n_best``, ``seed``.

    Returns:
        At most ``n_best`` different hypotheses, sorted by score; fewer if the same ones keep
        coming. ``n_expanded`` counts the draws.

    Raises:
        InfeasibleBudgetError: If no sequence meets the budget.
    """
    options = options.begin()
    sampler = PathSampler(dag, options)
    drawn: dict[tuple[int, ...], None] = {}
    n_draws = 0
    for words in sampler.draws(_ROUNDS * options.n_best):
        n_draws += 1
        drawn.setdefault(words)
        if len(drawn) == options.n_best:
            break
    found = as_hypotheses(sampler.problem, list(drawn), with_path=True, deadline=options.running)
    return NBest(tuple(found), method="sample", n_expanded=n_draws)


def overlap(left: Sequence[int], right: Sequence[int]) -> float:
    """Measure how much of two sequences is the same, order aside.

    Args:
        left: Vocabulary ids.
        right: Vocabulary ids.

    Returns:
        Twice the words in common, repeats counted, over the words of both: 0 to 1.
    """
    common = sum((Counter(left) & Counter(right)).values())
    return 2 * common / max(1, len(left) + len(right))


def pick_diverse(
    hypotheses: Iterable[Hypothesis], n: int, *, max_overlap: float = MAX_OVERLAP
) -> tuple[Hypothesis, ...]:
    """Take hypotheses by score, passing over those too much like one already taken.

    Args:
        hypotheses: Best score first.
        n: Most to take.
        max_overlap: Most `overlap` of any two.

    Returns:
        At most ``n``, best score first.
    """
    taken: list[Hypothesis] = []
    for item in hypotheses:
        if len(taken) == n:
            break
        if all(overlap(item.words, other.words) <= max_overlap for other in taken):
            taken.append(item)
    return tuple(taken)


def diverse(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Find good sequences that differ: any two share at most half of their words.

    The pool is the exact best sequence and 50 draws per wanted member; from it the best scores
    are taken in order, each unless its `overlap` with one taken before exceeds `MAX_OVERLAP`.

    Args:
        dag: The graph.
        options: Costs, budget, ending, bonus, ``n_best``, ``seed``.

    Returns:
        At most ``n_best`` hypotheses, best first; the first with the certificate of exact search.

    Raises:
        InfeasibleBudgetError: If no sequence meets the budget.
    """
    options = options.begin()
    best = seqmap(dag, options=options.replace(n_best=1))
    sampler = PathSampler(dag, options)
    drawn = dict.fromkeys(sampler.draws(_POOL * options.n_best))
    drawn.pop(best.best.words, None)
    others = as_hypotheses(sampler.problem, list(drawn), with_path=True, deadline=options.running)
    pool = sorted((best.best, *others), key=lambda item: (-item.score, item.words))
    taken = pick_diverse(pool, options.n_best)
    return NBest(taken, method="diverse", n_expanded=best.n_expanded)
