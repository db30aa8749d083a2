"""Who has the next turn: seconds of workers are shared, whatever a turn takes."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.serving import turns as turns_module
from sumfit.serving.turns import LONG_S, Turn, Turns, surcharge


def worked(n_workers: int, seconds: dict[str, float], until_s: float) -> dict[str, float]:
    """Seconds that clients got who always wait, each with turns of its own length."""
    turns, now = Turns(n_workers), 0.0
    got: dict[str, float] = defaultdict(float)
    running: list[tuple[float, str, Turn]] = []
    for client in seconds:
        turns.join(client)
    while now < until_s:
        while len(running) < n_workers:
            client = turns.next(list(seconds), now)
            turn = turns.begin({client: 1.0}, 0.0, now)
            running.append((now + seconds[client], client, turn))
        running.sort(key=lambda one: one[0])
        now, client, turn = running.pop(0)
        turns.end(turn, now, seconds)
        got[client] += seconds[client]
    return got


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 5.0), min_size=1),
    st.integers(1, 4),
)
def test_clients_that_always_wait_get_seconds_alike(
    seconds: dict[str, float], n_workers: int
) -> None:
    until_s = 400.0
    got = worked(n_workers, seconds, until_s)
    part = min(1.0, n_workers / len(seconds)) * until_s
    for client in seconds:
        assert got[client] >= 0.7 * part - 6 * max(seconds.values())


@pytest.mark.parametrize("n_workers", [1, 2, 4])
@pytest.mark.parametrize("seconds", [0.1, 0.5, 6.0])
def test_a_long_request_has_a_quarter_beside_short_ones(n_workers: int, seconds: float) -> None:
    """Whatever its works take; and as much as it wants beside other long ones."""
    for others, part in (("short", 0.25), ("long", 0.5)):
        turns, now = Turns(n_workers), 0.0
        used = {"it": 0.0, "others": 0.0}
        running: list[tuple[float, str, Turn]] = []
        for client in used:
            turns.join(client)
        while now < 300 * seconds:
            while len(running) < n_workers:
                long = {"it"} if used["it"] >= LONG_S else set()
                long |= {"others"} if others == "long" and used["others"] >= LONG_S else set()
                client = turns.next(list(used), now, long)
                turn = turns.begin({client: 1.0}, seconds if client == "it" else 0.5, now)
                running.append((now + (seconds if client == "it" else 0.5), client, turn))
            running.sort(key=lambda one: one[0])
            now, client, turn = running.pop(0)
            took = now - turn.began
            before = used[client] if client == "it" or others == "long" else 0.0
            turns.end(turn, now, used, {client: surcharge(before, took)})
            used[client] += took
        assert used["it"] / sum(used.values()) == pytest.approx(part, abs=0.05)


@given(st.floats(0, 10), st.floats(0, 10), st.floats(0, 10))
def test_a_request_pays_the_same_in_one_batch_as_in_two(
    before: float, one: float, two: float
) -> None:
    parts = surcharge(before, one) + surcharge(before + one, two)
    assert parts == pytest.approx(surcharge(before, one + two))
    assert surcharge(0.0, min(one, LONG_S)) == 0.0
    assert surcharge(LONG_S, two) == pytest.approx(2 * two)


def test_a_long_turn_does_not_hold_every_worker_while_others_wait() -> None:
    turns = Turns(2)
    for client in ("slow", "quick"):
        turns.join(client)
    now, began = 0.0, []
    for _ in range(2):
        client = turns.next(["slow", "quick"], now)
        began.append((client, turns.begin({client: 1.0}, 0.01, now)))
    assert [client for client, _ in began] == ["slow", "quick"]
    for _ in range(50):  # the slow one's worker is still at it
        now += 0.1
        turns.end(began.pop()[1], now, ["slow", "quick"])
        client = turns.next(["slow", "quick"], now)
        assert client == "quick"
        began.append((client, turns.begin({client: 1.0}, 0.1, now)))


@pytest.mark.parametrize(("long", "order"), [((), "aabb"), (("a",), "abbb"), (("a", "b"), "aabb")])
def test_a_long_request_holds_fewer_workers_while_others_wait(
    long: tuple[str, ...], order: str
) -> None:
    turns = Turns(4)
    for client in "ab":
        turns.join(client)
    turns.end(turns.begin({"b": 1.0}, 100.0, 0.0), 100.0, "ab")  # so the other has more to claim
    chosen = ""
    for _ in order:
        chosen += turns.next(["a", "b"], 100.0, long)
        turns.begin({chosen[-1]: 1.0}, 0.1, 100.0)
    assert chosen == order


def test_a_client_alone_may_have_all_workers() -> None:
    turns = Turns(3)
    turns.join("one")
    for _ in range(3):
        assert turns.next(["one"], 0.0) == "one"
        turns.begin({"one": 1.0}, 1.0, 0.0)


def test_who_comes_late_has_no_claim_to_the_time_before() -> None:
    turns = Turns(1)
    turns.join("old")
    now = 0.0
    for _ in range(100):
        turn = turns.begin({turns.next(["old"], now): 1.0}, 1.0, now)
        now += 1.0
        turns.end(turn, now, ["old"])
    turns.join("new")
    order = []
    for _ in range(6):
        client = turns.next(["old", "new"], now)
        order.append(client)
        turn = turns.begin({client: 1.0}, 1.0, now)
        now += 1.0
        turns.end(turn, now, ["old", "new"])
    assert order[0] == "new"
    assert sorted(order) == ["new"] * 3 + ["old"] * 3


def test_who_was_away_does_not_pay_for_the_time_before() -> None:
    turns = Turns(1)
    turns.join("one")
    turn = turns.begin({turns.next(["one"], 0.0): 1.0}, 1.0, 0.0)
    turns.end(turn, 1000.0, [])
    turns.join("other")
    for now in range(1000, 1003):
        turn = turns.begin({turns.next(["other"], now): 1.0}, 1.0, now)
        turns.end(turn, now + 400.0, ["other"])
    turns.join("one")
    assert turns.next(["other", "one"], 2000.0) == "one"


def test_accounts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "_MAX_TAGS", 10)
    turns = Turns(1)
    for number in range(100):
        turns.join(f"c{number}")
        turn = turns.begin({f"c{number}": 1.0}, 1.0, 0.0)
        turns.end(turn, 1.0, [f"c{number}", "c0"])
    assert len(turns._tags) <= 10
    assert {"c0", "c99"} <= turns._tags.keys()
