"""Constraints compiled for the outputs of one text: a state machine to step through.

Owns `CompiledConstraints`, what the decoders ask of it, and the check that required words can be
written. Does not own how it is made (`sumfit.constraints.compile`) or the compiled steps
(`kernels.rules`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sumfit.constraints.kernels.contexts import ANY, NO_END
from sumfit.constraints.kernels.rules import classify, step_once
from sumfit.constraints.kernels.state import (
    ENDABLE,
    FIELDS,
    LETTERS,
    N_ATOMS,
    OTHER,
    REJECTED,
    Rules,
    start_state,
)
from sumfit.errors import ConstraintError

__all__ = ["CompiledConstraints"]

State = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledConstraints:
    """Constraints ready to be stepped through for the outputs of one text.

    Attributes:
        rules: Arrays for the compiled decoders, see `kernels.rules`.
        required: Phrases that must occur.
        required_atoms: Case-folded atoms of each required phrase.
        usual_contexts: ``(V,)`` what may follow each piece whatever the source; ``None`` if that
            is not known.
    """

    rules: Rules
    required: tuple[str, ...] = ()
    required_atoms: tuple[tuple[str, ...], ...] = ()
    usual_contexts: State | None = None

    @property
    def vocab_size(self) -> int:
        """``V`` of the tokenizer."""
        return int(self.rules.pieces.kind.shape[0])

    def state_size(self, n_pieces: int) -> int:
        """Length of the state of a prefix.

        Args:
            n_pieces: Most pieces that the prefix may have.

        Returns:
            Numbers per state.
        """
        return int(FIELDS) + n_pieces

    def contexts(self, ids: npt.NDArray[np.int64]) -> tuple[State, npt.NDArray[np.bool_]]:
        """Tell what may follow each piece, in the best case over all prefixes.

        Args:
            ids: ``(W,)`` vocabulary ids.

        Returns:
            ``(W,)`` contexts, see `kernels.rules.classify`, and ``(W,)`` whether the piece
            can continue a word.
        """
        rules = self.rules
        contexts = np.zeros(ids.size, dtype=np.int64)
        joins = np.zeros(ids.size, dtype=np.bool_)
        scratch = np.zeros(self.state_size(2), dtype=np.int64)
        if self.usual_contexts is None:
            classify(rules, ids, scratch, contexts, joins)
            return contexts, joins
        contexts = self.usual_contexts[ids]
        # the source can only add words: a piece that is one, and begins longer ones, stays so
        rest = np.flatnonzero((contexts != ANY) & (contexts != NO_END))
        found = np.zeros(rest.size, dtype=np.int64)
        classify(rules, ids[rest], scratch, found, np.zeros(rest.size, dtype=np.bool_))
        contexts[rest] = found
        if rules.complete_end:
            contexts[rules.odd[ids]] = REJECTED
        if rules.whole_words:
            contexts[(rules.pieces.scripts[ids] & ~rules.source_scripts) != 0] = REJECTED
        piece_kind = rules.pieces.kind[ids]
        joins = ((piece_kind == LETTERS) | (piece_kind == OTHER)) & ~rules.pieces.starts[ids]
        return contexts, joins

    def start(self, n_pieces: int = 256) -> State:
        """Make the state of the empty prefix.

        Args:
            n_pieces: Most pieces that prefixes may have.

        Returns:
            ``(state_size,)`` opaque numbers.
        """
        state = np.zeros(self.state_size(n_pieces), dtype=np.int64)
        start_state(state)
        return state

    def allows(self, state: State, word_id: int) -> State | None:
        """Say whether a piece may come next, and what state it leaves.

        A piece may be allowed although nothing can follow it that completes its word; that shows
        with the next piece at the latest.

        Args:
            state: State of the prefix.
            word_id: Vocabulary id of the piece.

        Returns:
            The new state, or ``None`` if the piece breaks a constraint.
        """
        if int(state[N_ATOMS]) + int(FIELDS) + 2 > state.size:
            state = np.concatenate([state, np.zeros(256, dtype=np.int64)])
        after = np.empty_like(state)
        kind = step_once(self.rules, state, word_id, after)
        return None if kind == REJECTED else after

    def allows_end(self, state: State) -> bool:
        """Say whether the output may end after a prefix.

        Args:
            state: State of the prefix.

        Returns:
            The verdict.
        """
        return bool(state[ENDABLE])

    def accepts(self, words: Iterable[int]) -> bool:
        """Say whether a whole output obeys the constraints.

        Args:
            words: Vocabulary ids.

        Returns:
            The verdict.
        """
        state: State | None = self.start()
        for word in words:
            state = self.allows(state, int(word)) if state is not None else None
        return state is not None and self.allows_end(state)

    def can_spell(self, ids: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Tell which pieces occur in a required phrase.

        Args:
            ids: ``(W,)`` vocabulary ids.

        Returns:
            ``(W,)`` flags.
        """
        atoms = {atom.encode("utf-8") for atoms in self.required_atoms for atom in atoms}
        bodies = [self._folded(v) for v in ids.tolist()]
        return np.array([any(body in atom for atom in atoms) for body in bodies], dtype=np.bool_)

    def check_required(
        self,
        ids: npt.NDArray[np.int32],
        cost: npt.NDArray[np.int32],
        first_cost: npt.NDArray[np.int32],
        limit: int,
        most_pieces: int,
    ) -> None:
        """Check that the required phrases can be written and fit.

        Args:
            ids: ``(W,)`` vocabulary ids that the graph offers.
            cost: ``(V,)`` unit cost.
            first_cost: ``(V,)`` cost as first word.
            limit: Most total cost.
            most_pieces: Most pieces of an output.

        Raises:
            ConstraintError: If a word cannot be written, or all together cost too much.
        """
        bodies = ((v, self._folded(v)) for v in ids.tolist())
        prices = _Prices(bodies, cost, first_cost, most_pieces)
        asked: dict[str, str] = {}  # atom: the phrase it is of
        for phrase, atoms in zip(self.required, self.required_atoms, strict=True):
            asked.update(dict.fromkeys(atoms, phrase))
        total = 0
        for atom, phrase in asked.items():
            least_cost = prices.least_cost(atom.encode("utf-8"), limit)
            if least_cost is None:
                word = next((w for w in phrase.split() if atom in w.casefold()), phrase)
                raise ConstraintError(
                    f"'{word}' is required, but the graph has no words that spell it; drop it"
                )
            total += least_cost
        if total > limit:
            raise ConstraintError(
                f"the required words cost at least {total}, but the limit is {limit}; "
                "raise the limit or drop some"
            )

    def fits_own_words(
        self,
        ids: npt.NDArray[np.int32],
        cost: npt.NDArray[np.int32],
        first_cost: npt.NDArray[np.int32],
        limit: int,
        most_pieces: int,
    ) -> bool:
        """Tell whether some word or number that an output needs fits at all.

        Args:
            ids: ``(W,)`` vocabulary ids that the graph offers.
            cost: ``(V,)`` unit cost.
            first_cost: ``(V,)`` cost as first word.
            limit: Most total cost.
            most_pieces: Most pieces of an output.

        Returns:
            The verdict; true wherever an output may hold other words than those of its source.
        """
        rules = self.rules
        if not (rules.whole_words and rules.complete_end and rules.source_numbers):
            return True
        if rules.words.lexicon_start.size > 1:
            return True
        bodies = ((v, self._body(v)) for v in ids.tolist())
        prices = _Prices(bodies, cost, first_cost, most_pieces)
        for begin, end in itertools.pairwise(rules.words.source_start.tolist()):
            least_cost = prices.least_cost(rules.words.source[begin:end].tobytes(), limit)
            if least_cost is not None and least_cost <= limit:
                return True
        return False

    def can_finish(self, place: int, ids: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Tell which pieces can be the last of a required phrase.

        Args:
            place: Index of the phrase in ``required``.
            ids: ``(W,)`` vocabulary ids.

        Returns:
            ``(W,)`` flags, true for every piece that can, and perhaps for some that cannot.
        """
        last = self.required_atoms[place][-1].encode("utf-8")
        flags = np.zeros(ids.size, dtype=np.bool_)
        for w, v in enumerate(ids.tolist()):
            tail = self._folded(v)
            flags[w] = tail == last or (not self.rules.pieces.starts[v] and last.endswith(tail))
        return flags

    def _body(self, v: int) -> bytes:
        begin, end = self.rules.pieces.body_start[v : v + 2].tolist()
        body: bytes = self.rules.pieces.body[begin:end].tobytes()
        return body

    def _folded(self, v: int) -> bytes:
        body = self._body(v)
        try:
            return body.decode("utf-8").casefold().encode("utf-8")
        except UnicodeDecodeError:
            return body


class _Prices:
    """What the pieces of a graph cost, by their spelling."""

    def __init__(
        self,
        bodies: Iterable[tuple[int, bytes]],
        cost: npt.NDArray[np.int32],
        first_cost: npt.NDArray[np.int32],
        most_pieces: int,
    ) -> None:
        """Keep the cheapest piece of each spelling, wherever it stands.

        Args:
            bodies: Vocabulary ids and spellings.
            cost: ``(V,)`` unit cost.
            first_cost: ``(V,)`` cost as first word.
            most_pieces: How many pieces an output can have.
        """
        self._price: dict[bytes, int] = {}
        for v, body in bodies:
            least = int(min(cost[v], first_cost[v]))
            self._price[body] = min(self._price.get(body, least), least)
        self._sizes = sorted({len(body) for body in self._price if body})
        self._most_bytes = most_pieces * max(self._sizes, default=0)

    def least_cost(self, atom: bytes, limit: int) -> int | None:
        """Least cost of pieces that spell an atom one after the other.

        Looks back no further than the longest piece, and gives up once all that it could go on
        from is above the limit, or the atom is longer than any output: time O(bytes read · longest
        piece), at most that of the longest output.

        Args:
            atom: The atom.
            limit: Most cost that matters.

        Returns:
            The cost; ``None`` if no pieces spell the atom. Above the limit it is a lower bound.
        """
        if len(atom) > self._most_bytes:
            return None
        least: dict[int, int] = {0: 0}  # of the last positions that are reached
        for end in range(1, len(atom) + 1):
            costs = [
                least[end - size] + self._price[atom[end - size : end]]
                for size in self._sizes
                if end - size in least and atom[end - size : end] in self._price
            ]
            if costs:
                least[end] = min(costs)
            least.pop(end - self._sizes[-1], None)
            nearest = min(least.values(), default=None)
            if nearest is None or nearest > limit:
                return nearest
        return least.get(len(atom))
