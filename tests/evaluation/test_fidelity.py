"""Length and text fidelity on texts whose counts one can see."""

from __future__ import annotations

import lzma
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.errors import DataFormatError, InputError, UnknownUnitError
from sumfit.evaluation.fidelity import (
    fidelity,
    has_repeated_neighbour,
    has_repeated_word,
    load_lexicon,
    unknown_words,
)
from sumfit.truth import support


def test_length_rates_are_counted_on_the_strings() -> None:
    result = fidelity(["ten chars.", "nine char", "eleven char", ""], unit="chars", limits=10)
    assert result.n == 4
    assert result.n_empty == 1
    assert result.violations == 0.25
    assert result.exact_hits == 0.25
    assert result.fill == pytest.approx((1 + 0.9 + 1.1 + 0) / 4)
    assert result.mean_length == 7.5


def test_minimums_and_limits_go_by_item() -> None:
    result = fidelity(["a b", "a b c", "a"], unit="words", limits=[2, 2, 3], minimums=[2, 0, 2])
    assert result.violations == pytest.approx(2 / 3)
    assert result.exact_hits == pytest.approx(1 / 3)


def test_units_differ_on_the_same_string() -> None:
    assert fidelity(["añ😀"], unit="bytes", limits=6).violations == 1
    assert fidelity(["añ😀"], unit="chars", limits=6).violations == 0


def test_what_was_not_asked_is_left_out() -> None:
    result = fidelity(["a storm"])
    names = [name for name, _ in result]
    assert math.isnan(result.violations)
    assert "violations" not in names
    assert "unsupported_name" not in names
    assert "complete" in names


def test_text_rates() -> None:
    summaries = ["Storm storm hits Kyiv", "Rates rise to", "Storm hits coast, coast hit in 2022"]
    sources = ["A storm hits the city", "Rates rise", "A storm hits the coast"]
    result = fidelity(
        summaries, sources=sources, lexicon={"kyiv", "to"}, truncated=[True, False, False]
    )
    assert result.repeated_neighbour == pytest.approx(2 / 3)
    assert result.repeated_word == pytest.approx(2 / 3)
    assert result.complete == pytest.approx(2 / 3)
    assert result.unsupported_name == pytest.approx(1 / 3)
    assert result.unsupported_number == pytest.approx(1 / 3)
    assert result.unknown_word == pytest.approx(1 / 3)
    assert result.truncated == pytest.approx(1 / 3)


@given(
    text=st.lists(
        st.sampled_from("The OnePlus 10T 5G, U.S. 69A in 2.5% Café Иван o'Neill's 12,000".split()),
        min_size=1,
    ).map(" ".join),
    n_words=st.integers(1, 9),
)
def test_a_texts_own_lead_is_always_supported(text: str, n_words: int) -> None:
    lead = " ".join(text.split()[:n_words])
    assert support(text, lead).numbers == ()
    assert support(text, lead).names == ()
    assert unknown_words(lead, text, ()) == ()


@pytest.mark.parametrize(
    ("words", "neighbour", "repeated"),
    [
        ("the cat and the dog", False, False),
        ("no no", True, False),
        ("storm over storm", False, True),
        ("4 4", True, False),
        ("", False, False),
    ],
)
def test_repetition_ignores_function_words_and_numbers(
    words: str, neighbour: bool, repeated: bool
) -> None:
    assert has_repeated_neighbour(words.split()) is neighbour
    assert has_repeated_word(words.split()) is repeated


def test_unknown_words_are_those_of_neither_source_nor_lexicon() -> None:
    found = unknown_words("Ukraineclass 5G talks resume", "Talks in Ukraine", {"resume"})
    assert found == ("ukraineclass",)


@pytest.mark.parametrize(
    ("summary", "found"),
    [
        ("Netflix's first season", ()),
        ("Netflix’s first season", ()),
        ("Netflix doesn't air first season", ()),
        ("Netflix s first season", ("s",)),
        ("Netflix'snot first season", ("snot",)),
        ("'s first season", ("s",)),
    ],
)
def test_what_follows_an_apostrophe_is_no_word_of_its_own(
    summary: str, found: tuple[str, ...]
) -> None:
    assert unknown_words(summary, "Netflix: the first season", {"doesn", "air"}) == found


def test_a_lexicon_reads_plain_and_compressed(tmp_path: Path) -> None:
    plain, packed = tmp_path / "words.txt", tmp_path / "words.txt.xz"
    plain.write_text("Kyiv\ndon't\n", encoding="utf-8")
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert load_lexicon(plain) == load_lexicon(packed) == {"kyiv", "don", "t"}


def test_a_damaged_lexicon_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.txt.xz"
    path.write_bytes(b"not xz")
    with pytest.raises(DataFormatError, match=r"cannot read the lexicon .*words\.txt\.xz"):
        load_lexicon(path)


def test_unusable_input_is_named() -> None:
    with pytest.raises(InputError, match="nothing to measure"):
        fidelity([])
    with pytest.raises(InputError, match="there are 2 summaries but 1 limits"):
        fidelity(["a", "b"], limits=[1])
    with pytest.raises(InputError, match="there are 1 summaries but 2 sources"):
        fidelity(["a"], sources=["b", "c"])
    with pytest.raises(UnknownUnitError, match="letters"):
        fidelity(["a"], unit="letters")
