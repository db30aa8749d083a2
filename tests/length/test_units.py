"""Units on finished strings.

`golden/length_units.jsonl` holds counts of independent implementations on the NFC form: code
points and bytes (Python), grapheme clusters (ICU 72), cells (glibc's wcswidth), weights (npm
twitter-text 3.1); and of npm sms-segments-calculator on the string as given.
"""

import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from sumfit import parts
from sumfit.errors import BudgetError, InputError, TimeLimitError, UnknownUnitError
from sumfit.length import UNITS, Unit, get_unit, measure, sms_info
from sumfit.length.units.sms import sms_septets
from tests.sample_texts import tiny_tokenizer
from tests.strategies import texts

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "golden" / "length_units.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
COLUMNS = {
    "chars": "nfc_chars",
    "bytes": "nfc_utf8_bytes",
    "graphemes": "nfc_graphemes_icu72",
    "utf16": "nfc_utf16_units",
    "cells": "cells_glibc",
    "words": "words",
    "tweet": "tweet_weighted",
}
GRAPHEME_TESTS = Path("/usr/share/unicode/auxiliary/GraphemeBreakTest.txt")
# Unicode 17 took U+2701 out of Extended_Pictographic, so a joiner no longer binds two of them.
CHANGED_IN_UNICODE_17 = {"÷ 2701 × 200D × 2701 ÷"}


@pytest.mark.parametrize("unit", COLUMNS)
def test_measure_agrees_with_independent_implementations(unit: str) -> None:
    assert len(ROWS) == 60
    got = {row["text"]: measure(row["text"], unit) for row in ROWS}
    assert got == {row["text"]: row[COLUMNS[unit]] for row in ROWS}


@pytest.mark.parametrize("unit", sorted(UNITS))
@given(st.lists(texts(untidy=True, surrogates=True), max_size=8).map("".join), st.integers(1, 9))
def test_the_length_of_a_long_text_is_the_sum_of_its_parts(unit: str, text: str, size: int) -> None:
    tokenizer = tiny_tokenizer()
    whole = measure(text, unit, tokenizer=tokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART", size)
        assert measure(text, unit, tokenizer=tokenizer, check=lambda _=0.0: None) == whole


@pytest.mark.parametrize("unit", sorted(set(UNITS) - {"tokens", "sms"}))
@pytest.mark.parametrize("word", ["a bridge ", "ein Brückenbau, ", "日本 語 "])
def test_measuring_a_long_text_can_be_given_up(unit: str, word: str) -> None:
    text = word * 40_000
    n_chars_left = [parts.PART * 3]

    def check(_: float = 0.0) -> None:
        n_chars_left[0] -= parts.PART
        if n_chars_left[0] < 0:
            raise TimeLimitError("enough")

    with pytest.raises(TimeLimitError, match="enough"):
        measure(text, unit, check=check)


@given(texts(untidy=True, surrogates=True))
def test_septets_are_those_of_the_segments(text: str) -> None:
    info = sms_info(text)
    expected = info.units if info.encoding == "GSM-7" else -(-16 * info.units // 7)
    assert sms_septets(text) == expected


def test_sms_info_agrees_with_a_segment_calculator() -> None:
    for row in ROWS:
        info = sms_info(row["text"])
        assert (info.encoding, info.units, info.segments) == (
            row["sms_encoding"],
            row["sms_units"],
            row["sms_segments"],
        )


@pytest.mark.skipif(
    not GRAPHEME_TESTS.exists(),
    reason="GraphemeBreakTest.txt is not installed (Debian package unicode-data)",
)
def test_graphemes_agree_with_the_test_file_of_unicode() -> None:
    n_rows, wrong = 0, []
    for line in GRAPHEME_TESTS.read_text(encoding="utf-8").splitlines():
        row = line.partition("#")[0].strip()
        if not row:
            continue
        clusters = [cluster for cluster in row.split("÷") if cluster.strip()]
        points = row.replace("÷", " ").replace("×", " ").split()
        n_rows += 1
        if measure("".join(chr(int(p, 16)) for p in points), "graphemes") != len(clusters):
            wrong.append(row)
    assert n_rows > 500
    is_17 = not regex.match(r"\p{Extended_Pictographic}", "\u2701")
    assert set(wrong) <= (CHANGED_IN_UNICODE_17 if is_17 else set())


@given(texts(untidy=True, surrogates=True))
def test_canonically_equal_texts_measure_the_same(text: str) -> None:
    for unit in COLUMNS:
        assert measure(unicodedata.normalize("NFD", text), unit) == measure(text, unit)


@given(texts(untidy=True))
def test_units_keep_their_order(text: str) -> None:
    words, graphemes, chars, utf16, n_bytes = (
        measure(text, unit) for unit in ("words", "graphemes", "chars", "utf16", "bytes")
    )
    assert 0 <= words <= graphemes <= chars <= utf16 <= n_bytes <= 4 * chars
    assert measure(text, "cells") <= 2 * chars


@given(texts(), texts())
def test_joining_texts_adds_up_in_additive_units(left: str, right: str) -> None:
    whole = unicodedata.normalize("NFC", f"{left} {right}")
    if whole == f"{unicodedata.normalize('NFC', left)} {unicodedata.normalize('NFC', right)}":
        for unit in ("chars", "bytes", "utf16", "cells"):
            assert measure(whole, unit) == measure(left, unit) + 1 + measure(right, unit)
        assert measure(whole, "words") == measure(left, "words") + measure(right, "words")


def test_tokens_are_the_pieces_of_the_tokenizer() -> None:
    tokenizer = tiny_tokenizer()
    text = "the old harbour bridge"
    assert measure(text, "tokens", tokenizer=tokenizer) == len(tokenizer.encode(text))
    with pytest.raises(BudgetError, match=r"^unit 'tokens' needs a tokenizer; give tokenizer=$"):
        measure(text, "tokens")


def test_a_function_counts_the_nfc_form() -> None:
    def vowels(text: str) -> int:
        return sum(character in "aeiouá" for character in text)

    assert measure("a\u0301bc e", vowels) == 2
    assert get_unit(vowels).name == "vowels"
    assert measure("abc", Unit("thirds", lambda text: -(-len(text) // 3))) == 1
    assert measure("abc", lambda text: np.int64(len(text))) == 3


@pytest.mark.parametrize(
    ("result", "shown"), [(2.5, "2.5"), (-1, "-1"), (None, "None"), (True, "True"), ("3", "'3'")]
)
def test_a_function_must_return_a_whole_number(result: object, shown: str) -> None:
    def width(text: str) -> object:
        return result

    with pytest.raises(BudgetError) as caught:
        measure("some text", width)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "unit 'width' must return a whole number, 0 or more, "
        f"but returned {shown} for 'some text'; round up there"
    )


def test_unknown_units_are_named_with_the_known_ones() -> None:
    known = ", ".join(UNITS)
    with pytest.raises(UnknownUnitError) as caught:
        measure("text", "letters")
    assert str(caught.value) == f"unit 'letters' is not known; use one of {known}, or a function"
    with pytest.raises(UnknownUnitError) as caught:
        measure("text", 5)  # type: ignore[arg-type]
    assert str(caught.value) == f"unit must be one of {known}, or a function, was 5"


def test_every_unit_has_a_description_and_prints_as_its_name() -> None:
    for name, unit in UNITS.items():
        assert str(unit) == unit.name == name
        assert unit.description


@pytest.mark.parametrize("text", [None, b"\xc3\xa9", 5, ["a"]])
def test_what_is_no_string_has_no_length(text: object) -> None:
    with pytest.raises(InputError, match=f"a text must be a string, was {type(text).__name__}"):
        measure(text, "chars")  # type: ignore[arg-type]


@given(
    st.lists(
        st.sampled_from(
            ["🇫" * 5, "🇫" * 32, "🇫" * 33, "🇫" * 67, "\u0301", "\u200d", "👩", "a", " "]
        ),
        max_size=6,
    ).map("".join)
)
def test_runs_of_flags_are_counted_as_the_pattern_for_clusters_does(text: str) -> None:
    assert measure(text, "graphemes") == len(
        regex.findall(r"\X", unicodedata.normalize("NFC", text))
    )


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("\u3164", 2),  # fillers of Hangul
        ("\uffa0", 1),
        ("\u1160", 0),  # part of a syllable
        ("\u302a\u302e\u302f", 4),  # a mark without room, and two that East_Asian_Width makes wide
        ("\u0903\u093e", 2),  # spacing marks
        ("\u0600\u06dd", 2),  # signs before numbers
        ("🇫🇷🏽\xad", 5),
    ],
)
def test_cells_that_tables_disagree_on_are_fixed(text: str, columns: int) -> None:
    assert measure(text, "cells") == columns
