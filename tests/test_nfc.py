import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.nfc import nfc
from tests.strategies import texts

# Marks of several combining classes, of class 0 (spacing, enclosing), and ones that decompose.
MARKS = "\u0301\u0323\u0334\u0345\u20dd\u0903\u093e\u0344\u0fb2\u0f71\u0f73\u3099\U0001d165"


@given(texts(untidy=True, surrogates=True))
def test_it_is_the_form_of_the_standard_library(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)


@given(st.sampled_from(["", "e", "é", "ế", "क", "\u1112\u1161"]), st.text(MARKS, max_size=120))
def test_long_runs_of_marks_come_out_as_in_the_standard_library(base: str, marks: str) -> None:
    text = f"a{base}{marks}b"
    assert nfc(text) == unicodedata.normalize("NFC", text)
    assert unicodedata.is_normalized("NFC", nfc(text))


def test_runs_come_to_the_standard_library_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    normalize = unicodedata.normalize

    def noted(form: str, text: str) -> str:
        asked.append(text)
        return normalize(form, text)  # type: ignore[arg-type]

    monkeypatch.setattr(unicodedata, "normalize", noted)
    nfc("e" + "\u0301\u0323" * 500)
    classes = [unicodedata.combining(mark) for mark in max(asked, key=len)[1:]]
    assert len(classes) == 1000
    assert classes == sorted(classes)
