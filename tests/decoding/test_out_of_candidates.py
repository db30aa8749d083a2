"""Words outside the candidates, followed by the search in groups: nothing they can do is lost."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from sumfit.constraints.compile import CompiledConstraints, Constraints
from sumfit.constraints.kernels.rules import step_out_of_candidates, step_within
from sumfit.constraints.kernels.state import ENDABLE, REJECTED
from sumfit.constraints.lexicon import Lexicon
from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.decoding import decode
from sumfit.decoding.bounds.out_of_candidates import words_out_of_candidates
from sumfit.decoding.bounds.tables import SearchTables
from sumfit.decoding.kernels.search import Ended
from sumfit.decoding.options import DecodeOptions
from sumfit.decoding.search.attempts import Ladder
from sumfit.decoding.search.best_first import Attempt
from sumfit.decoding.search.effort import Effort, Share
from sumfit.errors import SumfitError
from sumfit.length import LengthBudget
from sumfit.text import PieceClass, Tokenizer
from tests.constraints.test_constraints import ALWAYS, OPTIONS, SOURCE, pool, random_problem
from tests.oracles import ranked_sequences
from tests.tuned import tune

State = np.ndarray


class HalfTimes:
    """A clock that at every look moves half of the way on to a million seconds."""

    def __init__(self) -> None:
        self.left = 1e6

    def __call__(self) -> float:
        now = 1e6 - self.left
        self.left /= 2
        return now


@numba.njit
def after_any(rules, before, members, known, state):  # type: ignore[no-untyped-def]
    return step_out_of_candidates(rules, before, members, 0, known, state)


@numba.njit
def may_join_any(rules, before, members, known, v, one, two):  # type: ignore[no-untyped-def]
    return step_within(rules, before, members, 0, known, v, one, two)


def walk(
    compiled: CompiledConstraints, pieces: list[int], size: int, rng: np.random.Generator
) -> State:
    """State after some random pieces that may come one after the other."""
    state = compiled.start()
    for v in rng.permutation(np.repeat(pieces, 3))[: 12 * size].tolist():
        after = compiled.allows(state, v)
        state = state if after is None or size == 0 else after
        size -= after is not None and size > 0
    return state


def same_class(tokenizer: Tokenizer, rng: np.random.Generator) -> np.ndarray:
    """Some pieces that are all letters or all digits, and begin a word all or none."""
    kind = PieceClass.LETTERS if rng.random() < 0.7 else PieceClass.DIGITS
    of_kind = tokenizer.piece_class == kind
    starts = tokenizer.starts_word if rng.random() < 0.6 else ~tokenizer.starts_word
    ids = np.flatnonzero(of_kind & starts)
    size = int(rng.integers(1, ids.size + 1))
    return np.sort(rng.choice(ids, size=size, replace=False)).astype(np.int64)


@pytest.mark.parametrize("name", list(OPTIONS))
def test_what_may_follow_one_piece_of_a_group_may_follow_the_group(
    name: str, tokenizer: Tokenizer, lexicon: Lexicon
) -> None:
    compiled = OPTIONS[name].compile(tokenizer, lexicon, SOURCE)
    rules, pieces = compiled.rules, pool(tokenizer)
    rng = np.random.default_rng(len(name))
    n_followed = n_ended = n_refused = 0
    for _ in range(250):
        before = walk(compiled, pieces, int(rng.integers(0, 4)), rng)
        members = same_class(tokenizer, rng)
        known = np.full((7, 8), -1, dtype=np.int64)
        wild, one, two = (np.zeros_like(before) for _ in range(3))
        kind = after_any(rules, before, members, known, wild)
        states = [compiled.allows(before, v) for v in members.tolist()]
        if kind == REJECTED:
            n_refused += 1
            assert not any(state is not None for state in states)
            continue
        assert any(state is not None for state in states)
        for state in states:
            follows, first = wild, True
            for v in rng.choice(pieces + same_class(tokenizer, rng)[:4].tolist(), size=9).tolist():
                if state is None:
                    break
                assert follows[ENDABLE] >= state[ENDABLE]
                n_ended += int(state[ENDABLE])
                after = compiled.allows(state, v)
                if after is None:
                    continue
                if first and compiled.contexts(np.array([v]))[1][0]:
                    assert may_join_any(rules, before, members, known, v, one, two)
                allowed = compiled.allows(follows, v)
                assert allowed is not None, (tokenizer.pieces((v,)), kind)
                state, follows, first = after, allowed, False
                n_followed += 1
    assert n_followed > 100
    assert n_ended > 20
    assert n_refused > 0 or name in (
        "nothing",
        "content",
        "adjacent",
        "ngram",
        "required",
        "phrase",
    )


@pytest.mark.parametrize("name", list(OPTIONS))
def test_certificates_hold_whatever_word_outside_makes_a_better_output(
    name: str, tokenizer: Tokenizer, lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = OPTIONS[name].compile(tokenizer, lexicon, SOURCE)
    tune(
        monkeypatch,
        expansions_before_giving_up=1,
        least_before_tightening=3,
        bounds_an_expansion=10**6,
    )
    n_certified = n_left = n_with = n_without = 0
    for seed in range(80):
        rng = np.random.default_rng([seed, 11])
        dag, arguments = random_problem(tokenizer, rng, always=ALWAYS.get(name, ()))
        arguments |= {"unit_bonus": float(rng.choice([0.0, 0.3, 1.0, -0.4]))}
        ranked = ranked_sequences(dag, **arguments, allowed=compiled.accepts)
        if not ranked:
            continue
        score_of = {item.words: item.score for item in ranked}
        asked = arguments | {"constraints": compiled, "words_per_vertex": int(rng.integers(1, 4))}
        for n_best in (1, 3):
            left = [item.score for item in ranked]
            for item in decode(dag, **asked, n_best=n_best):
                assert item.score == pytest.approx(score_of[item.words], abs=1e-6), seed
                assert left[0] <= item.score + item.gap + 1e-6, (seed, n_best)
                n_certified += item.optimal
                n_left += not item.optimal
                left.remove(score_of[item.words])
        n_with += decode(dag, **asked).best.optimal
        with monkeypatch.context() as patch:
            patch.setattr(Ladder, "followed", lambda _: None)
            n_without += decode(dag, **asked).best.optimal
    assert n_certified > 10
    assert n_left > 0
    assert n_with >= n_without


def test_every_word_outside_is_in_one_group(tokenizer: Tokenizer, lexicon: Lexicon) -> None:
    cost = np.array([len(piece) for piece in tokenizer.piece_bytes], dtype=np.int32)
    options = DecodeOptions(
        unit_cost=cost,
        first_cost=cost - tokenizer.starts_word.astype(np.int32),
        budget=LengthBudget(max=9),
        constraints=OPTIONS["content"].compile(tokenizer, lexicon, SOURCE),
    )
    candidates = np.sort(pool(tokenizer))[::2].astype(np.int64)
    for ids in (candidates, np.zeros(0, dtype=np.int64)):
        found = words_out_of_candidates(ids, options)
        n_groups = found.start.size - 1
        assert found.ids[:n_groups].tolist() == [-1 - g for g in range(n_groups)]
        for at in range(n_groups):
            members = found.members[found.start[at] : found.start[at + 1]]
            assert (options.unit_cost[members] == found.cost[at]).all()
            assert (options.first_cost[members] == found.first_cost[at]).all()
            classes = {tokenizer.piece_class[v] for v in members}
            are_same_class = classes <= {PieceClass.LETTERS} or classes <= {PieceClass.DIGITS}
            assert are_same_class == (at < found.n_same_class)
        alone = found.members[found.start[found.n_same_class] :]
        assert found.ids[n_groups:].tolist() == alone.tolist()
        assert (options.unit_cost[alone] == found.cost[n_groups:]).all()
        assert (options.first_cost[alone] == found.first_cost[n_groups:]).all()
        listed = found.members.tolist()
        emitted = np.flatnonzero(tokenizer.piece_class != PieceClass.SPECIAL)
        assert sorted(listed) == np.setdiff1d(emitted, ids).tolist()


def test_words_that_the_rules_refuse_do_not_stand_in_the_way(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [v for v, piece in enumerate(tokenizer.piece_bytes) if piece.strip() in (b"run", b"man")]
    links = np.log(np.array([[0, 0.7, 0.3, 0], [0, 0, 0.1, 0.9], [0, 0, 0, 1], [0] * 4]) + 1e-30)
    probable = [piece == b" run" for piece in tokenizer.piece_bytes]
    words = np.tile(np.log(np.where(np.array(probable)[ids], 0.3, 0.01)), (4, 1))
    dag = DAG(
        np.array(ids, dtype=np.int32),
        words.astype(np.float32),
        np.where(links < -60, -np.inf, links).astype(np.float32),
        np.full(4, np.log(0.6), dtype=np.float32),
        tokenizer.vocab_size,
    )
    only = Lexicon.from_words(["run", "man"])
    rules = Constraints.recommended(source_numbers_only=True)
    compiled = rules.compile(tokenizer, only, "run")
    arguments = {
        "unit_cost": np.ones(tokenizer.vocab_size, dtype=np.int32),
        "budget": LengthBudget(exact=1),
        "constraints": compiled,
        "words_per_vertex": None,
    }
    assert decode(dag, **arguments).best.optimal
    monkeypatch.setattr(Ladder, "followed", lambda _: None)
    plain = decode(dag, **arguments).best
    assert not plain.optimal
    assert plain.words == (tokenizer.piece_bytes.index(b" run"),)


def test_a_third_of_the_limits_is_enough_to_follow_words_outside(
    tokenizer: Tokenizer, lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = OPTIONS["recommended"].compile(tokenizer, lexicon, SOURCE)
    tune(monkeypatch, expansions_before_giving_up=1, least_before_tightening=10)
    shares: list[Share] = []
    followed: list[Attempt] = []
    share, follow = Effort.share, Ladder.followed

    def noted_share(effort: Effort, n_more: int | None, *, follows: bool) -> Share:
        found = share(effort, n_more, follows=follows)
        if follows:
            shares.append(found)
        return found

    def noted(ladder: Ladder) -> Attempt | None:
        found = follow(ladder)
        if found is not None:
            followed.append(found)
        return found

    monkeypatch.setattr(Effort, "share", noted_share)
    monkeypatch.setattr(Ladder, "followed", noted)
    n_late = 0
    for seed in range(120):
        dag, arguments = random_problem(tokenizer, np.random.default_rng([seed, 12]))
        if not ranked_sequences(dag, **arguments, allowed=compiled.accepts):
            continue
        asked = arguments | {"constraints": compiled, "words_per_vertex": 2}
        shares.clear()
        found = decode(dag, **asked, max_expansions=120)
        assert all(3 * one.own <= 120 for one in shares)
        followed.clear()
        # a third of what is left is over at the next look at the clock
        late = decode(dag, **asked, deadline=Deadline(1e6, clock=HalfTimes()))
        assert late.best.score == pytest.approx(found.best.score, abs=1e-9)
        n_late += len(followed)
        assert all(one.ended != Ended.LIMIT or one.is_cut_short for one in followed)
        assert late.is_complete
    assert n_late > 5


@pytest.mark.parametrize("max_expansions", [1, 2, 3])
def test_the_smallest_limits_end_the_search(
    max_expansions: int, tokenizer: Tokenizer, lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = OPTIONS["content"].compile(tokenizer, lexicon, SOURCE)
    n_searches = 0
    leave_out = SearchTables.without_out_of_candidates

    def counted(tables: SearchTables) -> SearchTables:
        nonlocal n_searches
        n_searches += 1
        assert n_searches < 2
        return leave_out(tables)

    monkeypatch.setattr(SearchTables, "without_out_of_candidates", counted)
    tune(monkeypatch, expansions_before_giving_up=1)
    n_left_out = 0
    for seed in range(60):
        dag, arguments = random_problem(tokenizer, np.random.default_rng([seed, 13]))
        asked = arguments | {"constraints": compiled, "max_expansions": max_expansions}
        n_searches = 0
        try:
            decode(dag, **asked, words_per_vertex=1)
        except SumfitError:
            continue
        n_left_out += n_searches
    assert n_left_out > 3
