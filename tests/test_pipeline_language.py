"""A source in another language: said on the result, refused where that is asked."""

import pytest

from sumfit import Summarizer
from sumfit.errors import UnsupportedLanguageError

ENGLISH = (
    "The council said on Monday that the old harbour bridge will close for six weeks of repairs."
)
GERMAN = (
    "Die Reparatur der alten Brücke dauert sechs Wochen und kostet die Stadt zwei Millionen Euro."
)


def test_the_language_is_said(fit: Summarizer) -> None:
    english, german, short = fit([ENGLISH, GERMAN, "Hello"], max_chars=60, on_infeasible="cut")
    assert (english.language, german.language, short.language) == ("en", "de", None)
    assert fit(ENGLISH, max_words=6, profile="gigaword").language is None


def test_another_language_is_refused_where_that_is_asked(fit: Summarizer) -> None:
    message = (
        r"the text is in German \(de\), and model '.*' writes English; translate it, use a model "
        "trained on it, or leave strict out"
    )
    for limit in (60, 200):  # also where it fits
        with pytest.raises(UnsupportedLanguageError, match=message):
            fit(GERMAN, max_chars=limit, strict=True)
    english, german, short = fit([ENGLISH, GERMAN, "Hello"], max_chars=60, strict=True)
    assert english.error is None
    assert short.text == "Hello"
    assert isinstance(german.error, UnsupportedLanguageError)
    assert german.error.http_status == 422


def test_a_page_in_another_language_is_told_by_its_text(fit: Summarizer) -> None:
    page = f"<div class='the and with that this'><p>{GERMAN}</p></div>"
    assert fit(page, max_chars=200).language == "de"
