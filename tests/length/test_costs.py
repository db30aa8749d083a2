import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sumfit.errors import BudgetError, UnknownUnitError
from sumfit.length import FORBIDDEN, UNITS, Unit, longest_pieces, measure, unit_costs
from sumfit.length.units.tweet import find_links
from sumfit.text import normalize
from tests.sample_texts import tiny_tokenizer
from tests.strategies import texts

TOKENIZER = tiny_tokenizer()
EXACT = [name for name in UNITS if unit_costs(TOKENIZER, name).exact]
WHOLE = [int(i) for i in np.flatnonzero(np.isin(TOKENIZER.piece_class, (1, 2, 3)))]


def additive(ids: list[int], unit: str | Unit) -> int:
    costs = unit_costs(TOKENIZER, unit)
    if not ids:
        return 0
    return int(costs.first_cost[ids[0]] + costs.cost[ids[1:]].sum())


@st.composite
def outputs(draw: st.DrawFn) -> tuple[list[int], str]:
    """Ids that no tokenizer would choose, but that spell a text in normal form."""
    fragments = draw(
        st.lists(
            st.one_of(
                st.lists(st.sampled_from(WHOLE), max_size=5),
                texts(max_fragments=3).map(TOKENIZER.encode),
            ),
            max_size=4,
        )
    )
    ids = [i for fragment in fragments for i in fragment]
    spelled = TOKENIZER.decode_bytes(ids).decode("utf-8").removeprefix(" ")
    assume(normalize(spelled) == spelled)
    assert TOKENIZER.decode(ids) == spelled
    return ids, spelled


def test_exact_units_are_these() -> None:
    assert EXACT == ["words", "chars", "bytes", "utf16"]


@given(outputs())
def test_costs_add_up_to_the_length_in_exact_units(output: tuple[list[int], str]) -> None:
    ids, text = output
    for unit in EXACT:
        assert additive(ids, unit) == measure(text, unit), unit


@given(outputs())
def test_costs_are_never_below_the_length_in_bounded_units(output: tuple[list[int], str]) -> None:
    ids, text = output
    for unit in ("graphemes", "cells", "sms"):
        assert additive(ids, unit) >= measure(text, unit), unit
    if not find_links(text):
        assert additive(ids, "tweet") >= measure(text, "tweet")


@given(texts())
def test_token_costs_count_pieces(text: str) -> None:
    ids = TOKENIZER.encode(text)
    assert additive(ids, "tokens") == measure(text, "tokens", tokenizer=TOKENIZER)


@given(st.lists(st.sampled_from(WHOLE), min_size=1, max_size=12))
def test_cells_of_whole_characters_add_up(ids: list[int]) -> None:
    text = TOKENIZER.decode_bytes(ids).decode("utf-8").removeprefix(" ")
    assume(normalize(text) == text)
    assert additive(ids, "cells") == measure(text, "cells")


@given(outputs(), st.sampled_from(WHOLE))
def test_a_longer_output_never_costs_less(output: tuple[list[int], str], more: int) -> None:
    ids, _ = output
    for unit in UNITS:
        assert additive([*ids, more], unit) >= additive(ids, unit)


def test_arrays_cover_the_vocabulary_and_special_ids_cost_nothing() -> None:
    for unit in UNITS:
        costs = unit_costs(TOKENIZER, unit)
        for array in (costs.cost, costs.first_cost):
            assert array.shape == (TOKENIZER.vocab_size,)
            assert array.dtype == np.int32
            assert not array[:4].any()
            assert array.min() >= 0
            assert not array.flags.writeable
        assert (costs.first_cost <= costs.cost).all() or unit == "words"


def test_a_first_piece_opens_a_word_whether_or_not_it_has_a_space() -> None:
    costs = unit_costs(TOKENIZER, "words")
    assert costs.first_cost[4:].tolist() == [1] * (TOKENIZER.vocab_size - 4)
    np.testing.assert_array_equal(costs.cost, TOKENIZER.starts_word)


def test_the_leading_space_of_the_first_piece_is_free() -> None:
    [piece] = TOKENIZER.encode("the")
    for unit, length in (("chars", 3), ("bytes", 3), ("cells", 3), ("utf16", 3), ("tweet", 3)):
        costs = unit_costs(TOKENIZER, unit)
        assert (costs.first_cost[piece], costs.cost[piece]) == (length, length + 1)


def test_pieces_outside_the_sms_alphabet_are_beyond_any_limit() -> None:
    costs = unit_costs(TOKENIZER, "sms").cost
    by_piece = dict(zip(TOKENIZER.piece_bytes, costs.tolist(), strict=True))
    assert by_piece[b"~"] == 2
    assert by_piece[b"a"] == 1
    assert by_piece[b"`"] == FORBIDDEN
    assert by_piece[b"\xe6"] == FORBIDDEN


@dataclass(eq=False)
class Pieces:
    """A vocabulary made by hand."""

    piece_bytes: tuple[bytes, ...]


def test_costs_of_hand_made_pieces() -> None:
    pieces = Pieces((b"", b" caf\xc3\xa9", b"\xe6\x97\xa5", b"\xe6", b"\x97", b" ", "👍".encode()))
    expected = {
        "words": ([0, 1, 0, 0, 0, 1, 0], [0, 1, 1, 1, 1, 1, 1]),
        "tokens": ([0, 1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1, 1]),
        "chars": ([0, 5, 1, 1, 0, 1, 1], [0, 4, 1, 1, 0, 0, 1]),
        "graphemes": ([0, 5, 1, 1, 0, 1, 1], [0, 4, 1, 1, 0, 0, 1]),
        "bytes": ([0, 6, 3, 1, 1, 1, 4], [0, 5, 3, 1, 1, 0, 4]),
        "utf16": ([0, 5, 1, 1, 0, 1, 2], [0, 4, 1, 1, 0, 0, 2]),
        "cells": ([0, 5, 2, 2, 0, 1, 2], [0, 4, 2, 2, 0, 0, 2]),
        "tweet": ([0, 5, 2, 2, 0, 1, 2], [0, 4, 2, 2, 0, 0, 2]),
    }
    for unit, (cost, first_cost) in expected.items():
        costs = unit_costs(pieces, unit)
        assert costs.cost.tolist() == cost, unit
        assert costs.first_cost.tolist() == first_cost, unit


def test_longest_pieces_are_measured_in_characters() -> None:
    pieces = Pieces((b"", b" caf\xc3\xa9", "日本語".encode(), b"four", b" five", b"\x97", b"nine"))
    assert longest_pieces(pieces, 3).tolist() == [1, 4, 3]
    assert longest_pieces(pieces, 99).tolist() == [
        1,
        4,
        3,
        6,
        2,
    ]  # a byte inside a character has none
    assert longest_pieces(pieces, 0).tolist() == []


def test_a_function_is_charged_by_piece() -> None:
    def width(text: str) -> int:
        return sum(3 if character in "mw" else 1 for character in text)

    ids = TOKENIZER.encode("mm: work on the slab")
    assert additive(ids, Unit("width", width)) == measure("mm: work on the slab", width)
    assert not unit_costs(TOKENIZER, width).exact


def test_a_unit_may_bring_its_own_bound() -> None:
    unit = Unit("pairs", lambda text: (len(text) + 1) // 2, bound=len)
    ids = TOKENIZER.encode("the bridge")
    assert additive(ids, unit) == len("the bridge")
    assert measure("the bridge", unit) == 5


def test_a_function_that_returns_a_fraction_is_refused() -> None:
    with pytest.raises(BudgetError, match=r"must return a whole number, 0 or more, but returned"):
        unit_costs(TOKENIZER, lambda text: len(text) / 2)  # type: ignore[arg-type,return-value]


def test_a_function_may_return_more_than_an_array_holds() -> None:
    costs = unit_costs(TOKENIZER, lambda text: 10**30 if "a" in text else len(text))
    assert FORBIDDEN == costs.cost.max() == costs.first_cost.max()
    assert 0 < (costs.cost == FORBIDDEN).sum() < len(costs.cost)


def test_costs_are_computed_once() -> None:
    assert unit_costs(TOKENIZER, "chars") is unit_costs(TOKENIZER, "chars")
    assert unit_costs(TOKENIZER, len) is unit_costs(TOKENIZER, len)
    with pytest.raises(UnknownUnitError):
        unit_costs(TOKENIZER, "letters")


def test_threads_that_measure_one_unit_at_once_get_the_same_costs() -> None:
    tokenizer = tiny_tokenizer()
    both = threading.Barrier(2)
    asked: list[str] = []

    def slow(text: str) -> int:
        asked.append(text)
        if len(asked) <= 2:
            both.wait(30)  # both threads are in the middle of it
        return len(text)

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda _: unit_costs(tokenizer, slow), range(2))
    assert one.cost.tolist() == two.cost.tolist() == unit_costs(tokenizer, len).cost.tolist()
