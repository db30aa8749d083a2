"""Cleaning on the way from a text to its summary: on by default, said, and switched off."""

import pytest

from sumfit import Summarizer
from sumfit.errors import ConfigError, EmptyInputError, InputTooLongError
from sumfit.pipeline import Options

PLAIN = "The old harbour bridge will close on Monday for six weeks of repairs, the council said."
PAGE = PLAIN.replace("harbour bridge", "<b>harbour bridge</b>").join(("<p>", "</p>"))


def test_a_page_is_summarised_as_its_text(fit: Summarizer) -> None:
    plain, page = fit([PLAIN, PAGE], max_chars=40)
    assert page.text == plain.text
    assert page.log_prob == plain.log_prob
    assert (plain.cleaned, page.cleaned) == ((), ("html",))


def test_a_page_whose_text_fits_is_returned_as_its_text(fit: Summarizer) -> None:
    short = fit(PAGE, max_chars=90)
    assert (short.text, short.origin, short.cleaned) == (PLAIN, "source", ("html",))
    assert fit(PAGE, max_chars=30).cleaned == ("html",)


def test_cleaning_is_switched_off(fit: Summarizer) -> None:
    raw = fit(PAGE, max_chars=120, clean=False)
    assert (raw.text, raw.cleaned) == (PAGE, ())
    with pytest.raises(ConfigError, match="clean must be True or False, was 'no'"):
        fit(PAGE, max_chars=40, clean="no")


def test_what_a_text_is_can_be_said(fit: Summarizer) -> None:
    text = "Prices <b>rise in June."
    assert fit(text, max_chars=60).text == text
    assert fit(text, max_chars=60, input_kind="html").text == "Prices rise in June."
    with pytest.raises(ConfigError, match=r"input_kind must be one of 'auto', .*, was 'pdf'"):
        Options(input_kind="pdf")


def test_a_text_that_fits_keeps_its_links_and_emoji_codes(fit: Summarizer) -> None:
    text = "Book at https://example.org/a?b=1 :wave:"
    short = fit(text, max_chars=60)
    assert (short.text, short.cleaned) == (text, ())
    longer = fit(f"{PLAIN} {text}", max_chars=60)
    assert longer.cleaned == ("links", "emoji-codes")
    assert "http" not in longer.text


def test_a_text_of_links_alone_says_nothing(fit: Summarizer) -> None:
    links = "https://example.org/" + "a" * 80
    with pytest.raises(EmptyInputError, match="nothing but web addresses; give the text"):
        fit(links, max_chars=40)
    assert fit(links, max_chars=200).text == links
    good, bad = fit([PLAIN, links], max_chars=40)
    assert good.error is None
    assert isinstance(bad.error, EmptyInputError)


@pytest.mark.parametrize("tags", ["<b>" * 100, "<p></p>\n" * 50, '<a href="x.html">' * 20])
def test_a_text_of_tags_alone_says_nothing(fit: Summarizer, tags: str) -> None:
    with pytest.raises(EmptyInputError, match="nothing but HTML tags; give a text with words"):
        fit(tags, max_chars=40)


def test_text_in_gigaword_form_is_never_cleaned(fit: Summarizer) -> None:
    text = "-lrb- <unk> -rrb- the old <b>bridge</b> will close on monday , the council said ."
    assert fit(text, max_words=40, profile="gigaword").cleaned == ()


def test_a_page_too_long_to_clean_costs_only_its_own_summary(
    fit: Summarizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sumfit.cleaning.registry._MOST_PROBED", 100)
    monkeypatch.setattr("sumfit.cleaning.registry.MOST_CLEANED", 1000)
    good, bad = fit([PAGE, PAGE * 20], max_chars=40)
    assert good.error is None
    assert isinstance(bad.error, InputTooLongError)
