from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.deadline import Deadline
from sumfit.errors import TimeLimitError
from tests.clocks import Clock


def test_it_is_over_once_its_time_has_run_out() -> None:
    clock = Clock(100.0)
    deadline = Deadline(2.0, spent_s=0.5, clock=clock)
    assert (deadline.left_s, deadline.is_over, deadline.may_end) == (1.5, False, True)
    deadline.check("waiting")
    clock.now += 1.5
    assert (deadline.left_s, deadline.is_over, deadline.is_spent) == (0.0, True, True)
    assert deadline.is_over_by(0.0)
    assert not deadline.is_over_by(0.1)
    assert not deadline.was_felt
    message = (
        "the time limit of 2 s ran out while reading the text; "
        "give a shorter text or a higher time_limit_s="
    )
    with pytest.raises(TimeLimitError, match=message):
        deadline.check("reading the text")
    assert deadline.was_felt


def test_without_a_limit_it_is_never_over() -> None:
    clock = Clock()
    deadline = Deadline(clock=clock)
    clock.now = 1e12
    assert (deadline.is_over, deadline.is_spent, deadline.may_end) == (False, False, False)
    assert (deadline.left_s, deadline.expansions_left) == (math.inf, None)
    deadline.spend(10**9)
    assert deadline.expansions_left is None
    assert not deadline.part(0.5).may_end


def test_a_part_ends_after_its_share_of_what_is_left() -> None:
    clock = Clock()
    deadline = Deadline(6.0, 100, clock=clock)
    clock.now = 3.0
    early = deadline.part(1 / 3)
    assert (early.left_s, early.expansions_left) == (1.0, None)
    clock.now = 4.0
    assert (early.is_over, deadline.is_over) == (True, False)
    clock.now = 9.0
    assert deadline.part(0.5).is_over


def test_it_is_over_once_it_was_cancelled_and_stays_so() -> None:
    answers = iter([False, False, True])
    deadline = Deadline(is_cancelled=lambda: next(answers))
    assert (deadline.may_end, deadline.is_over, deadline.is_spent) == (True, False, False)
    part = deadline.part(0.5)
    assert part.is_over
    with pytest.raises(StopIteration):
        _ = deadline.is_over
    answers = iter([True])
    assert (deadline.is_over, deadline.is_spent, deadline.is_cancelled) == (True, True, True)
    with pytest.raises(TimeLimitError, match="cancelled while reading the text: its is_cancelled"):
        deadline.check("reading the text", late_s=9.0)


@given(
    st.one_of(st.none(), st.integers(0, 100)),
    st.lists(st.tuples(st.floats(0, 2), st.integers(-3, 60)), max_size=12),
)
def test_time_and_expansions_only_run_down(
    most: int | None, steps: list[tuple[float, int]]
) -> None:
    clock = Clock()
    deadline = Deadline(5.0, most, clock=clock)
    seen = [(deadline.left_s, deadline.expansions_left, deadline.is_spent)]
    for seconds, n_expanded in steps:
        clock.now += seconds
        deadline.spend(n_expanded)
        seen.append((deadline.left_s, deadline.expansions_left, deadline.is_spent))
    for (left, expansions, spent), (left_next, expansions_next, spent_next) in itertools.pairwise(
        seen
    ):
        assert left_next <= left
        assert spent_next >= spent
        assert (expansions is None) == (expansions_next is None)
        assert (expansions_next or 0) <= (expansions or 0)
