"""The bound on what all requests hold: never exceeded, and the largest give way first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sumfit.serving.clients import client_of
from sumfit.serving.held import Held, HeldBytes


def test_the_largest_body_of_the_client_that_holds_most_gives_way() -> None:
    held_bytes = HeldBytes(1000, 1000)
    hog = [held_bytes.open("hog") for _ in range(3)]
    for size, held in zip((300, 400, 200), hog, strict=True):
        held_bytes.add_body(held, b"x" * size)
    other = held_bytes.open("other")
    held_bytes.add_body(other, b"y" * 350)
    assert [held.has_given_way for held in hog] == [False, True, False]
    assert not other.has_given_way
    assert held_bytes.n_bytes == 300 + 200 + 350
    held_bytes.add_body(hog[0], b"x" * 300)  # now it is the largest itself
    assert hog[0].has_given_way
    assert held_bytes.take_body(other) == b"y" * 350


def test_at_the_limit_of_a_client_its_own_bodies_give_way_alone() -> None:
    held_bytes = HeldBytes(1000, 500)
    other = held_bytes.open("other")
    held_bytes.add_body(other, b"y" * 490)
    first, second = held_bytes.open("one"), held_bytes.open("one")
    held_bytes.add_body(first, b"x" * 300)
    held_bytes.add_body(second, b"x" * 250)
    assert first.has_given_way
    assert not second.has_given_way
    assert not other.has_given_way


def test_a_complete_body_and_a_reply_keep_their_room_until_the_request_ends() -> None:
    held_bytes = HeldBytes(1000, 1000)
    complete, late = held_bytes.open("a"), held_bytes.open("b")
    held_bytes.add_body(complete, b"x" * 600)
    assert held_bytes.take_body(complete) == b"x" * 600
    held_bytes.add_reply(complete, 300)
    held_bytes.add_body(late, b"y" * 200)
    assert late.has_given_way
    held_bytes.close(complete)
    held_bytes.close(late)
    assert held_bytes.n_bytes == 0


Step = st.tuples(st.integers(0, 9), st.integers(1, 60), st.sampled_from(["add", "take", "close"]))


@given(steps=st.lists(Step, max_size=120), share=st.integers(50, 200))
def test_neither_bound_is_ever_exceeded(steps: list[tuple[int, int, str]], share: int) -> None:
    held_bytes = HeldBytes(200, share)
    requests: dict[int, Held] = {}
    n_sent: dict[int, int] = {}
    for number, size, action in steps:
        if number not in requests:
            requests[number] = held_bytes.open(f"client {number % 3}")
            n_sent[number] = 0
        held = requests[number]
        if action == "add" and held.is_reading:
            smallest = all(
                other.n_bytes > size
                for other in requests.values()
                if other.is_reading and other is not held
            )
            had = held.n_bytes
            held_bytes.add_body(held, b"x" * size)
            n_sent[number] += size
            kept = [other for other in requests.values() if other.n_bytes and other is not held]
            if held.has_given_way and not had and smallest:
                # Only what cannot give way stands in the way of the smallest.
                assert not any(other.is_reading and other.client == held.client for other in kept)
        elif action == "take" and held.is_reading:
            assert held_bytes.take_body(held) == b"x" * n_sent[number]
        elif action == "close":
            held_bytes.close(requests.pop(number))
        by_client: dict[str, int] = {}
        for other in requests.values():
            by_client[other.client] = by_client.get(other.client, 0) + other.n_bytes
        assert held_bytes.n_bytes == sum(by_client.values()) <= 200
        assert all(n_bytes <= share for n_bytes in by_client.values())
    for held in requests.values():
        held_bytes.close(held)
    assert held_bytes.n_bytes == 0


def test_a_client_is_an_address_or_the_network_of_an_ipv6_customer() -> None:
    assert client_of(None) == ""
    assert client_of("192.0.2.7") == "192.0.2.7"
    assert client_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert client_of("2001:db8:1:2:3:4:5:6") == client_of("2001:db8:1:2::1") == "2001:db8:1:2::/64"
    assert client_of("fe80::1%eth0") == "fe80::/64"
    assert client_of("unknown" * 20) == ("unknown" * 20)[:64]
