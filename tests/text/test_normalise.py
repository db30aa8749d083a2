import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit import parts
from sumfit.text import normalize
from tests.strategies import texts


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("  two  words \n", "two words"),
        ("line\r\nbreak", "line break"),
        ("a\u2028b\u2029c\x85d\x0be\x0cf", "a b c d e f"),
        ("no\xa0break\u202fspace\u3000wide", "no break space wide"),
        ("nul\x00bell\x07\x1b[31mred\x7f\x9f", "nul bell [31mred"),
        ("soft\u00adhyphen zero\u200bwidth \ufeffmark word\u2060joiner",
         "softhyphen zerowidth mark wordjoiner"),
        ("\u202eabc\u202c \u2066def\u2069", "abc def"),
        ("cafe\u0301", "café"),
        ("\u212bngstr\u00f6m \u2126", "Ångström Ω"),
        ("می\u200cخواهم 👩\u200d🚀", "می\u200cخواهم 👩\u200d🚀"),
        ("lone \ud83d half", "lone \ufffd half"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("ŻÓŁĆ Ёлка й", "ŻÓŁĆ Ёлка й"),
        ("ﬁne “quotes” … stay", "ﬁne “quotes” … stay"),
        ("\u2000edge\u2001", "edge"),
    ],
)  # fmt: skip
def test_normalize_brings_texts_into_one_form(raw: str, expected: str) -> None:
    assert normalize(raw) == expected


@given(texts(untidy=True, surrogates=True))
def test_normalize_twice_is_normalize_once(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once


@given(texts(untidy=True, surrogates=True))
def test_normalised_texts_are_nfc_printable_and_singly_spaced(text: str) -> None:
    result = normalize(text)
    assert unicodedata.is_normalized("NFC", result)
    assert result.encode("utf-8").decode("utf-8") == result
    assert result.split() == [word for word in result.split(" ") if word]
    assert "  " not in result
    assert result == result.strip()
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in result)


@given(texts())
def test_normalize_loses_no_letter_or_mark(text: str) -> None:
    def kept(string: str) -> list[str]:
        decomposed = unicodedata.normalize("NFD", string)
        return [c for c in decomposed if unicodedata.category(c)[0] in "LMN"]

    assert kept(normalize(text)) == kept(text)


@given(st.lists(texts(untidy=True, surrogates=True), max_size=8).map(" ".join), st.integers(1, 9))
def test_a_long_text_is_normalised_in_parts_without_a_trace(text: str, size: int) -> None:
    whole = normalize(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART", size)
        assert normalize(text, lambda _=0.0: None) == whole
