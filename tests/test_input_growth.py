"""No reader of a text does more than twice the work for twice the text.

`benchmarks/input_growth.py` measures time, the compiled parts included, on given shapes; here new
shapes are looked for, and what is counted are the lines of Python that run.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import input_growth
from sumfit.cleaning import clean
from sumfit.evaluation.novelty import reordered_pairs
from sumfit.length import measure, sms_info
from sumfit.pipeline.search import says_something
from sumfit.text import ends_completely, get_profile, normalize
from sumfit.text.passages import TextForm, select
from sumfit.text.points import parts_of
from sumfit.text.scripts import keeps_scripts
from sumfit.text.split import split_words
from sumfit.text.surface import Surface
from sumfit.truth import support
from tests.clocks import Clock
from tests.strategies import AWKWARD_FRAGMENTS, UNTIDY_FRAGMENTS

FORMS: tuple[TextForm, ...] = ("article", "thread", "talk")
READERS: dict[str, Callable[[str], object]] = {
    "tweet": lambda text: measure(text, "tweet"),
    "mastodon": lambda text: measure(text, "mastodon"),
    "graphemes": lambda text: measure(text, "graphemes"),
    "cells": lambda text: measure(text, "cells"),
    "sms": sms_info,
    "normalize": normalize,
    "gigaword": get_profile("gigaword").apply_source,
    "split": split_words,
    "clean": clean,
    "passages": lambda text: select(text, len, most=800),
    "points": lambda text: [parts_of(text, form) for form in FORMS],
    "scripts": lambda text: keeps_scripts(text, text),
    "ends": ends_completely,
    "surface": lambda text: Surface(text).fault(f"\U0001f1e9 {text}"),
    "something": says_something,
    "truth": lambda text: support(text, text + " "),
    "reordering": lambda text: reordered_pairs([ord(character) % 17 for character in text]),
}


def n_lines(read: Callable[[str], object], text: str) -> int:
    """Lines of Python that run while a text is read."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        read(text)
    finally:
        sys.settrace(before)
    return count


units = st.lists(
    st.one_of(
        st.sampled_from([*AWKWARD_FRAGMENTS, *UNTIDY_FRAGMENTS]),
        st.sampled_from(
            ["é", "日", ".", "-", "_", "/", "http://", "com", "(", "'", '"', " ", "1,"]
        ),
        st.text("aA1. -'", min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=4,
).map("".join)


@pytest.mark.parametrize("name", list(READERS))
@settings(deadline=None)
@given(unit=units, before=st.sampled_from(["", "x", "x.", "x.com/", "@"]), after=units)
def test_twice_the_text_takes_about_twice_the_lines(
    name: str, unit: str, before: str, after: str
) -> None:
    read = READERS[name]
    text = before + unit * 300 + after
    read(text)  # what is made once
    once, twice = n_lines(read, before + unit * 150 + after), n_lines(read, text)
    assert twice <= 2.4 * once + 10 * len(text)  # one more loop may begin at some length


FOUND = [
    ("gigaword", "a.", "'", "b"),
    ("gigaword", "a.", "' ", "b"),
    ("gigaword", "a. ", "`", "b"),
    ("passages", "", "?!", "a"),
    ("passages", "", ".", "a"),
    ("points", "We compared. ", "but-", "a"),
    ("points", "", "we'll-", "a"),
    ("points", "Stand-up\n", "a, ", "b"),
    ("points", "Ticket 1\n", "A: ", "b"),
    ("surface", "", "\U0001f1eb\U0001f1f7", "a"),
    ("clean", "U.S. ", " ", "\n"),
    ("clean", "U.S. ", " \t", "\n"),
    ("clean", "The bridge", "\t", "closes, see www.example.org for more."),
]


@pytest.mark.parametrize(("name", "before", "unit", "after"), FOUND)
def test_shapes_that_were_found_to_take_the_square_of_their_length(
    name: str, before: str, unit: str, after: str
) -> None:
    """Compiled code took it, in which no lines are counted: minutes or days for each of these."""
    READERS[name](before + unit * (200_000 // len(unit)) + after)


def test_the_counting_finds_the_square() -> None:
    def pairs(text: str) -> int:
        total = 0
        for one in text:
            for other in text:
                total += one == other
        return total

    once, twice = n_lines(pairs, "a" * 150), n_lines(pairs, "a" * 300)
    assert twice > 2.4 * once + 10 * 300


def grown(power: float, sizes: Sequence[int], *, seconds: float) -> input_growth.Growing:
    """Times of a reader that takes so many seconds for 1,000 characters."""
    clock = Clock()

    def read(text: str) -> None:
        clock.now += seconds * (len(text) / 1000) ** power

    growing = input_growth.Growing(read, input_growth.SHAPES["dots"], clock)
    for size in sizes:
        growing.measure(size)
    return growing


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0])
def test_the_benchmark_finds_the_exponent(power: float) -> None:
    line = grown(power, [8000, 16000, 32000], seconds=1e-3).settle()
    assert line.exponent == pytest.approx(power)
    assert line.is_fault == (power > 1)


def test_the_benchmark_leaves_out_times_below_the_floor_and_stops_when_it_is_too_slow() -> None:
    assert math.isnan(input_growth.exponent([1, 2, 4], [0.0, 0.001, 0.5]))
    line = grown(2.0, [1000, 4000, 16000, 64000], seconds=1.0).line
    assert line.sizes == (1000, 4000)


def test_what_the_machine_did_meanwhile_is_no_finding() -> None:
    clock, n_reads = Clock(), 0

    def read(text: str) -> None:
        nonlocal n_reads
        n_reads += 1
        clock.now += 1e-6 * len(text) * (9 if n_reads == 4 else 1)

    growing = input_growth.Growing(read, input_growth.SHAPES["dots"], clock)
    for size in (8000, 16000, 32000):
        growing.measure(size)
    assert growing.line.is_fault
    assert growing.settle().exponent == pytest.approx(1.0)


@pytest.mark.parametrize("name", list(input_growth.SHAPES))
def test_shapes_have_about_the_length_that_is_asked_for(name: str) -> None:
    text = input_growth.SHAPES[name](1000)
    assert 500 <= len(text) <= 1200


def test_long_texts_are_for_what_grows_fast_and_then_for_what_takes_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(input_growth, "FLOOR_S", 0.0)
    monkeypatch.setattr(input_growth, "_BROAD", 64)
    clock, order = Clock(), []
    monkeypatch.setattr(input_growth.Growing.__init__, "__defaults__", (clock,))

    def reader(name: str, power: float, seconds: float) -> Callable[[str], None]:
        def read(text: str) -> None:
            order.append((name, len(text)))
            clock.now += seconds * len(text) ** power

        return read

    chosen = {
        "slow": reader("slow", 1.0, 1e-3),
        "quick": reader("quick", 1.0, 1e-4),
        "square": reader("square", 2.0, 1e-3),
    }
    shapes = {"dots": input_growth.SHAPES["dots"]}
    sizes = input_growth.sizes_between(4, 1100)
    assert sizes == [4, 16, 64, 256, 1024]
    n_left = 5  # the square one was stopped, and takes none

    def is_over() -> bool:
        nonlocal n_left
        n_left -= 1
        return n_left < 0

    monkeypatch.setattr(input_growth, "_REPEATS", 1)
    found = input_growth.measured(chosen, shapes, sizes, is_over)
    assert [one for one in order if one[1] > 64] == [
        ("square", 256), ("quick", 256), ("slow", 256), ("quick", 1024),
    ]  # fmt: skip
    assert {name: lines["dots"].sizes[-1] for name, lines in found.items()} == {
        "slow": 256, "quick": 1024, "square": 256,
    }  # fmt: skip


@pytest.mark.parametrize(("power", "status"), [(1, 0), (2, 1)])
def test_the_benchmark_fails_where_something_grows_too_fast(
    power: int, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lines(*_: object) -> dict[str, dict[str, input_growth.Line]]:
        sizes = (1000, 2000, 4000)
        seconds = tuple((n / 1000) ** power * 0.1 for n in sizes)
        line = input_growth.Line(input_growth.exponent(sizes, seconds), sizes, seconds)
        return {"reader": {"dots": line}}

    monkeypatch.setattr(input_growth, "readers", lambda: {"reader": len})
    monkeypatch.setattr(input_growth, "pipeline_readers", dict)
    monkeypatch.setattr(input_growth, "measured", lines)
    assert input_growth.main(["--shapes", "dots"]) == status
    assert ("above 1.2: dots" in capsys.readouterr().out) == bool(status)
