"""What exact search needs of one graph: probabilities, costs and the table of upper bounds.

Owns `SearchTables`. Does not own the recursion (`kernels.bound`) or the search (`seqmap`).

For a prefix whose mass at vertex j is u_j and that has r left to spend, no completion collects
more than ``sum_j u_j H[r][j]`` with Eq. A8::

    H[r][j] = max( end_j if r <= slack,  max_v sum_{i>j} l[j,i] w[i,v] H[r - c(v)][i] )

The maximum over words stands outside the sum over vertices, because a string has one next word.
Under constraints the table also knows what may follow which word, which required phrases are
still missing and which of a few critical words are used up (`kernels.bound`).
Words outside the candidates take part as one word whose probability at vertex i is their bound
``other[i]`` and whose cost is the least of theirs, so H bounds the whole vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.constraints.kernels.contexts import ANY, JOIN_ONLY, WITHOUT_JOIN, Context
from sumfit.constraints.kernels.state import LETTERS, Rules, no_rules
from sumfit.dag import DAG
from sumfit.decoding import tuning
from sumfit.decoding.bounds.out_of_candidates import WordsOutOfCandidates
from sumfit.decoding.costs import NEVER, check_room, costs_out_of_candidates, most_spent
from sumfit.decoding.kernels.bound import fill_bounds, lay_out
from sumfit.decoding.kernels.children import Graph
from sumfit.decoding.kernels.steps import Steps, in_runs, payable_steps
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.problem import SearchProblem, infeasible
from sumfit.errors import InfeasibleBudgetError

__all__ = ["SearchTables"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SearchTables:
    """Arrays of one search, over the ``S - 2`` inner vertices and ``W`` candidates.

    There are ``n`` vertices, as many as make a multiple of eight: those behind the real ones have
    no links, and every row begins with a cache line, so that the compiled loops come out even.

    Attributes:
        graph: What the search reads: ``prob`` (W, n), probability of each candidate at each
            vertex times ``exp(bonus)``; ``link`` (n, n), ``first_link`` (n,) and ``end`` (n,);
            ``other`` (n,), the most any word outside the candidates can have, and its least
            costs; costs and steps; ``table`` (A, K, R, n) of bounds and ``scale`` (R,), the
            natural log of the factor of each layer, see `kernels.bound`.
        rules: The constraints' state machine, switched off where there are none.
        low: Least total cost.
        high: Most total cost.
    """

    graph: Graph
    rules: Rules
    low: int
    high: int

    @classmethod
    def build(cls, dag: DAG, options: DecodeOptions) -> SearchTables:
        """Compute the arrays and fill the table of bounds (Eq. A8).

        Time O(R · (S · W' + S²)) with W' the number of non-negligible entries of ``prob``.

        Args:
            dag: The graph, already restricted to the candidates to search.
            options: Costs, budget, ending, bonus and constraints.

        Returns:
            The tables.

        Raises:
            InfeasibleBudgetError: If the graph has no inner vertex, or cannot spend as much as
                the budget asks for.
            BudgetError: If the table of bounds would not fit.
        """
        n = dag.n_vertices - 2
        if n == 0:
            raise InfeasibleBudgetError(_NO_WORD)
        made = _probabilities(dag, options)
        costs, high = _costs(dag, options, made.other)
        low = options.budget.low
        if low > high:
            raise infeasible(SearchProblem.build(dag, options))
        rules = no_rules() if options.constraints is None else options.constraints.rules
        contexts, joins, gains, needed = _context(dag, options)
        steps = first_steps = payable_steps(costs.cost, high, contexts, joins, gains)
        if costs.first_cost is not costs.cost:
            first_steps = payable_steps(costs.first_cost, high, contexts, joins, gains)
        graph = Graph(
            **made._asdict(),
            **costs._asdict(),
            ids=dag.word_ids.astype(np.int64),
            steps=Steps(*steps),
            first_steps=Steps(*first_steps),
            joins=joins,
            table=_NO_TABLE,
            scale=_NO_SCALE,
            needed=needed,
            used_once=_NONE,
            used_once_bit=_NONE,
            n_repeats=np.zeros(dag.n_candidates, dtype=np.int64),
            unit_bonus=float(options.unit_bonus),
            n_inside=dag.n_candidates,
            members=_NONE,
            member_start=_NONE,
            n_same_class=0,
        )
        return cls(_with_bounds(graph, rules, low, high), rules, low, high)

    def repeated_words(self, most: int) -> IntArray:
        """List the words whose repetition the search had to refuse most often.

        Args:
            most: How many to list at most.

        Returns:
            Hashes of words that are one piece and that the bound does not know of yet.
        """
        graph, rules = self.graph, self.rules
        refused = np.flatnonzero((graph.n_repeats > 0) & (graph.ids >= 0))
        pieces = graph.ids[refused]
        is_one_piece = rules.pieces.starts[pieces] & (rules.pieces.kind[pieces] == LETTERS)
        hashes = rules.pieces.fold_plus[pieces[is_one_piece]]
        times = graph.n_repeats[refused[is_one_piece]]
        words, place = np.unique(hashes, return_inverse=True)
        total = np.bincount(place, weights=times, minlength=words.size)
        order = np.argsort(-total, kind="stable")
        order = order[~np.isin(words[order], graph.used_once)]
        return np.asarray(words[order[:most]], dtype=np.int64)

    def without_out_of_candidates(self) -> SearchTables:
        """Bound only sequences of candidates.

        Returns:
            Tables with a tighter bound, which proves nothing about other words.
        """
        none = np.zeros(0, dtype=np.int64)
        return self._rebuilt(self.graph._replace(other_costs=none, other_first_costs=none))

    def _rebuilt(self, graph: Graph) -> SearchTables:
        filled = _with_bounds(graph, self.rules, self.low, self.high)
        return replace(self, graph=filled)

    def following(self, followed: WordsOutOfCandidates) -> SearchTables:
        """Search words outside the candidates as well, each group of them as a candidate more.

        Each has the greatest probability that any word outside can have, at every vertex. The
        bounds are those of these tables, which know of such words.

        Args:
            followed: These words.

        Returns:
            Tables whose search leaves the candidates.
        """
        graph = self.graph
        n_words, n_more = graph.prob.shape[0], followed.ids.size
        n_groups = followed.start.size - 1
        prob = _aligned(n_words + n_more, graph.prob.shape[1])
        prob[:n_words] = graph.prob
        prob[n_words:] = graph.other
        joins = np.concatenate([graph.joins, followed.joins])
        cost = np.concatenate([graph.cost, followed.cost])
        first_cost = np.concatenate([graph.first_cost, followed.first_cost])

        def extended(steps: Steps, costs: IntArray) -> Steps:
            payable = costs[n_words : n_words + n_groups] <= self.high
            words = n_words + np.flatnonzero(payable & (np.diff(followed.start) > 0))
            none, needed = np.zeros_like(words), np.full_like(words, graph.needed)
            more = (words, costs[words], np.full_like(words, ANY), needed, none)
            columns = [np.concatenate(pair) for pair in zip(steps[:5], more, strict=True)]
            return _steps_of(columns, joins)

        larger = graph._replace(
            prob=prob,
            ids=np.concatenate([graph.ids, followed.ids]),
            cost=cost,
            first_cost=first_cost,
            steps=extended(graph.steps, cost),
            first_steps=extended(graph.first_steps, first_cost),
            joins=joins,
            n_repeats=np.zeros(n_words + n_more, dtype=np.int64),
            members=followed.members,
            member_start=followed.start,
            n_same_class=followed.n_same_class,
        )
        return replace(self, graph=larger)

    def with_used_once(self, words: IntArray) -> SearchTables:
        """Make the bound know that some more words can be used only once.

        Each word doubles the table.

        Args:
            words: Hashes of words that are one piece.

        Returns:
            Tables with a tighter bound.
        """
        graph = self.graph
        used_once = np.concatenate([graph.used_once, words])
        bits = (graph.needed + 1) << np.arange(used_once.size, dtype=np.int64)
        new_bits = bits[graph.used_once.size :]

        def split(steps: Steps) -> Steps:
            return _split(steps, graph.ids, graph.joins, self.rules, words, new_bits)

        tighter = graph._replace(
            used_once=used_once,
            used_once_bit=bits,
            steps=split(graph.steps),
            first_steps=split(graph.first_steps),
            n_repeats=np.zeros_like(graph.n_repeats),
        )
        return self._rebuilt(tighter)

    @property
    def n_candidates(self) -> int:
        """``W``."""
        return int(self.graph.prob.shape[0])

    @property
    def table(self) -> FloatArray:
        """``(A, K, R, n)`` bounds, see `kernels.bound`."""
        return np.asarray(self.graph.table)

    @property
    def n_inner(self) -> int:
        """``n``, a multiple of eight."""
        return int(self.graph.prob.shape[1])


_NO_WORD = "a graph of 2 vertices emits no word; give one with an inner vertex"
_NONE = np.zeros(0, dtype=np.int64)
_LARGE = 1024  # from which on it is looked up what the graph can spend at all
_LINE = 8  # numbers in a cache line
_NO_TABLE = np.zeros((1, 1, 0, 0))
_NO_SCALE = np.zeros(0)


class _Probabilities(NamedTuple):
    """The arrays of `Graph` of these names, with the bonus in ``prob`` and ``other``."""

    prob: FloatArray
    other: FloatArray
    link: FloatArray
    first_link: FloatArray
    end: FloatArray


def _probabilities(dag: DAG, options: DecodeOptions) -> _Probabilities:
    n_words, n = dag.n_candidates, -(-(dag.n_vertices - 2) // _LINE) * _LINE
    logs = np.empty((n_words + n + 3, n), dtype=np.float32)
    lay_out(
        np.ascontiguousarray(dag.word_logp, dtype=np.float32),
        np.ascontiguousarray(dag.link_logp, dtype=np.float32),
        np.ascontiguousarray(dag.other_logp, dtype=np.float32),
        options.ending == "any",
        logs,
    )
    rows = np.exp(logs, dtype=np.float64, out=_aligned(*logs.shape))
    prob, link = rows[:n_words], rows[n_words : n_words + n]
    other, first_link, end = rows[n_words + n :]
    if options.bonus != 0.0:
        gain = math.exp(options.bonus)
        prob *= gain
        other *= gain
    return _Probabilities(prob, other, link, first_link, end)


def _aligned(*shape: int) -> FloatArray:
    """Room for rows of whole cache lines, the last axis being a multiple of eight."""
    size = math.prod(shape)
    room = np.empty(size + _LINE)
    skip = -(room.__array_interface__["data"][0] // room.itemsize) % _LINE
    return room[skip : skip + size].reshape(shape)


class _Costs(NamedTuple):
    """The arrays of `Graph` of these names; one array for two where first words cost the same."""

    cost: IntArray
    first_cost: IntArray
    other_costs: IntArray
    other_first_costs: IntArray


def _costs(dag: DAG, options: DecodeOptions, other: FloatArray) -> tuple[_Costs, int]:
    """What words cost, and the most that is worth looking at."""
    high = min(options.budget.high, NEVER - 1)
    cost = first = options.unit_cost[dag.word_ids].astype(np.int64)
    others = first_others = _others(options.unit_cost, dag, other, high)
    if options.first_cost is not options.unit_cost:
        first = options.first_cost[dag.word_ids].astype(np.int64)
        first_others = _others(options.first_cost, dag, other, high)
    if high >= _LARGE:
        high = most_spent(high, dag.n_vertices - 2, (cost, others), (first, first_others))
    return _Costs(cost, first, others, first_others), high


def _others(cost: npt.NDArray[np.int32], dag: DAG, other: FloatArray, high: int) -> IntArray:
    """What words may cost that are no candidates and may have a probability above 0."""
    has_other = dag.n_candidates < dag.vocab_size and bool(other.any())
    return costs_out_of_candidates(cost, dag.word_ids, high) if has_other else _NONE


def _context(
    dag: DAG, options: DecodeOptions
) -> tuple[IntArray, npt.NDArray[np.bool_], IntArray, int]:
    """What each candidate leaves behind: context, whether it can join a word, bits it turns on."""
    n_words = dag.n_candidates
    contexts = np.full(n_words, ANY, dtype=np.int64)
    joins = np.zeros(n_words, dtype=np.bool_)
    gains = np.zeros(n_words, dtype=np.int64)
    constraints = options.constraints
    if constraints is None:
        return contexts, joins, gains, 0
    contexts, joins = constraints.contexts(dag.word_ids.astype(np.int64))
    n_needed = min(len(constraints.required_atoms), tuning.SEARCH.most_required)
    for place in range(n_needed):
        gains[constraints.can_finish(place, dag.word_ids)] |= 1 << place
    return contexts, joins, gains, (1 << n_needed) - 1


def _split(
    steps: Steps,
    ids: IntArray,
    joins: npt.NDArray[np.bool_],
    rules: Rules,
    words: IntArray,
    bits: IntArray,
) -> Steps:
    """Let words be written only once: closed, they turn their bit on; longer, they are others."""
    rows: list[tuple[int, int, int, int, int]] = []
    bit_of = dict(zip(words.tolist(), bits.tolist(), strict=True))
    pieces = ids[steps.word]
    hashes = np.where(
        rules.pieces.starts[pieces] & (rules.pieces.kind[pieces] == LETTERS),
        rules.pieces.fold_plus[pieces],
        0,
    )
    columns = (steps.word, steps.cost, steps.context, steps.gain, steps.blocked)
    for value, word, cost, context, gain, blocked in zip(
        hashes.tolist(), *(column.tolist() for column in columns), strict=True
    ):
        bit = bit_of.get(value, 0)
        if not bit or context == JOIN_ONLY:
            rows.append((word, cost, context, gain, blocked))
            continue
        rows.append((word, cost, WITHOUT_JOIN[context], gain | bit, blocked | bit))
        if context != WITHOUT_JOIN[context]:
            rows.append((word, cost, JOIN_ONLY, gain, blocked))
    table = np.ascontiguousarray(np.array(rows, dtype=np.int64).reshape(-1, 5).T)
    return _steps_of(list(table), joins)


def _steps_of(columns: Sequence[IntArray], joins: npt.NDArray[np.bool_]) -> Steps:
    """Steps from their columns, sorted into runs."""
    word, cost, context, gain, blocked = columns
    return Steps(*in_runs(word, cost, context, gain, blocked, joins))


def _with_bounds(graph: Graph, rules: Rules, low: int, high: int) -> Graph:
    """Fill the table of bounds of a graph."""
    n = graph.prob.shape[1]
    least_first = [
        int(costs[0]) for costs in (graph.first_steps.cost, graph.other_first_costs) if costs.size
    ]
    n_layers = max(0, high - min(least_first, default=high)) + 1
    n_sets = (graph.needed + 1) << int(graph.used_once.size)
    n_contexts = len(Context) if rules.is_on else 1
    check_room(n_layers - 1, n_sets * n_contexts * n)
    table = _aligned(n_sets, n_contexts, n_layers, n)
    scale = np.empty(n_layers)
    share = tuning.SEARCH.negligible_once if graph.used_once.size else tuning.SEARCH.negligible
    fill_bounds(
        graph.link,
        graph.end,
        graph.prob,
        share / n,
        graph.steps,
        graph.other,
        graph.other_costs[graph.other_costs < n_layers],
        high - low,
        graph.needed,
        graph.unit_bonus,
        table,
        scale,
    )
    return graph._replace(table=table, scale=scale)
