"""Greedy decoding: follow the best link, emit the best word; no length control.

Owns the walk that `lookahead` shares. Both return what the model says unasked: the budget is
not looked at, and ``Hypothesis.cost`` tells whether the result meets it. They are listed in
`sumfit.decoding.UNBUDGETED_METHODS`, so that whoever promises a limit can cut or mark the text.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from sumfit.dag import DAG
from sumfit.decoding.marginal import marginal_log_prob
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.hypothesis import Hypothesis, NBest

__all__ = ["greedy", "walk"]


def greedy(dag: DAG, *, options: DecodeOptions) -> NBest:
    """Follow the most probable link from vertex to vertex and emit each vertex's best word.

    DA-Transformer's greedy decoding (Huang et al. 2022). Time O(S · (S + W)).

    Args:
        dag: The graph.
        options: Costs, ending and bonus; the budget is not obeyed.

    Returns:
        One hypothesis with its true cost, which may break the budget; never certified.

    Raises:
        InfeasibleBudgetError: If no path of the graph emits a word.
    """
    return walk(dag, options, method="greedy", word_weight=0.0)


def walk(dag: DAG, options: DecodeOptions, *, method: str, word_weight: float) -> NBest:
    """Step to the vertex with the best ``log l[i,j] + word_weight * max_v log w[j,v]``.

    Vertices that emit nothing or do not lead to the end are passed over, and the first step goes
    to an inner vertex, so that something is emitted. Ties go to the smaller vertex and word.

    Args:
        dag: The graph.
        options: Costs, ending and bonus.
        method: Name to put on the result.
        word_weight: 0 for greedy, 1 for lookahead.

    Returns:
        One hypothesis.

    Raises:
        InfeasibleBudgetError: If no path of the graph emits a word.
    """
    problem = SearchProblem.build(dag, options)
    last = dag.n_vertices - 1
    links, words = problem.link_logp, problem.word_logp
    best_column = np.zeros(last + 1, dtype=np.int64)
    best_word = np.zeros(last + 1)
    best_column[1:last] = words[1:last].argmax(axis=1)
    best_word[1:last] = words[1:last].max(axis=1)
    usable = _leads_to_end(links, best_word)
    vertices: list[int] = []
    here = 0
    while here != last:
        worth = links[here] + word_weight * np.where(usable, best_word, 0.0)
        worth[~usable] = -np.inf
        worth[: here + 1] = -np.inf
        if here == 0:
            worth[last] = -np.inf
        here = int(worth.argmax())
        if worth[here] == -np.inf:
            raise infeasible(problem)
        vertices.append(here)
    path = tuple(vertices[:-1])
    found = problem.words_of(int(best_column[j]) for j in path)
    hypothesis = _scored(problem, found, path, float(best_word[list(path)].sum()))
    return NBest((hypothesis,), method=method, n_expanded=len(path))


def _scored(
    problem: SearchProblem, words: tuple[int, ...], path: tuple[int, ...], word_sum: float
) -> Hypothesis:
    """Score a path whose words have log-probabilities of that sum."""
    options, links = problem.options, problem.link_logp
    chain = [0, *path] if problem.any_ending else [0, *path, problem.dag.n_vertices - 1]
    score = float(sum(links[i, j] for i, j in itertools.pairwise(chain)))
    cost = problem.cost_of(words)
    return Hypothesis(
        words=words,
        log_prob=marginal_log_prob(problem.dag, words, options.ending),
        score=score + word_sum + options.bonus_of(len(words), cost),
        cost=cost,
        path=path,
    )


def _leads_to_end(
    links: npt.NDArray[np.float32], best_word: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Mark the vertices from which words can be emitted all the way to the end."""
    last = links.shape[0] - 1
    usable = np.zeros(last + 1, dtype=np.bool_)
    usable[last] = True
    for j in range(last - 1, 0, -1):
        onward = usable[j + 1 :] & (links[j, j + 1 :] > -np.inf)
        usable[j] = bool(best_word[j] > -np.inf and onward.any())
    return usable
