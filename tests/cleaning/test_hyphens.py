"""Words parted at line ends."""

import pytest

from sumfit.cleaning import clean
from sumfit.cleaning.hyphens import clean_hyphens
from sumfit.truth.names import is_ordinary


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The har-\nbour is shut.", "The harbour is shut."),
        ("It is ten centi-\n  metres deep.", "It is ten centimetres deep."),
        ("It rained, there-\nfore we stayed.", "It rained, therefore we stayed."),
        ("We saw the elec-\ntrophoresis of sam-\nples.", "We saw the electrophoresis of samples."),
        ("It opens on Tues-\nday, with a re-\nsult.", "It opens on Tuesday, with a result."),
        ("In con-\ncert the at-\ntacks fell.", "In concert the attacks fell."),
        ("The har\u2010\nbour and the har- \nbour.", "The harbour and the harbour."),
        ("The har-\u00a0\nbour and a key\u2010\nvalue.", "The harbour and a key\u2010value."),
        ("The har\u00ad\nbour is shut.", "The harbour is shut."),
        (
            "A well-\nknown baker sells a high-\nlevel cake.",
            "A well-known baker sells a high-level cake.",
        ),
        ("Send an e-\nmail or an X-\nray.", "Send an e-mail or an X-ray."),
        ("A Leeds-\nbased, COVID-\nrelated firm.", "A Leeds-based, COVID-related firm."),
        ("It is state-\nof-the-\nart and up-\nto-date.", "It is state-of-the-art and up-to-date."),
        ("A 20-\nyear plan.", "A 20-year plan."),
        ("We re-sign. They re-\nsign too.", "We re-sign. They re-sign too."),
    ],
)
def test_a_word_parted_at_a_line_end_is_one_word(text: str, right: str) -> None:
    found = clean(text, known=is_ordinary)
    assert found.text == right
    assert found.removed == ("hyphens",)


@pytest.mark.parametrize(
    "word",
    """
    re-signed re-covered co-op co-founder by-election no-one non-existent pre-trained multi-agent
    anti-government self-made ex-partner key-value role-playing command-line check-in follow-up
    Follow-up read-only audio-visual socio-economic spatio-temporal fine-tuned trade-off
    time-series semi-final human-like south-west Jong-un Anne-marie anne-marie Li-ning
    ana-maria@example.org https://example.org/har-bour har-bour.example www.har-bour.example
    """.split(),
)
def test_a_hyphen_that_belongs_to_its_word_stays(word: str) -> None:
    parted = "-\n".join(word.split("-"))
    assert clean_hyphens(f"It is {parted} here.", known=is_ordinary) == f"It is {word} here."


@pytest.mark.parametrize(
    "text",
    [
        "Ein- \nund Ausfuhr",
        "Anne-\nMarie bakes.",
        "It covers pre-\nand post-war homes.",
        "A well-known baker\nsells cake.",
        "We wait -\nit rains.",
        "We have tea-\n- and milk.",
    ],
)
def test_other_line_ends_stay(text: str) -> None:
    assert "hyphens" not in clean(text, known=is_ordinary).removed


def test_without_known_words_only_soft_hyphens_go() -> None:
    assert clean("The har-\nbour is shut.").text == "The har-\nbour is shut."
    assert clean("The har\u00ad\nbour is shut.").text == "The harbour is shut."


_FREQUENT = frozenset("network framework input under website until although startup resign".split())


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("net-work", "network"),
        ("frame-work", "framework"),
        ("in-put", "input"),
        ("un-der", "under"),
        ("un-til", "until"),
        ("Al-though", "Although"),
        ("web-site", "website"),
        ("learn-ing", "learning"),
        ("mod-el", "model"),
        ("high-er", "higher"),
        ("avail-able", "available"),
        ("start-up", "start-up"),
        ("re-sign", "re-sign"),
        ("bench-mark", "bench-mark"),
        ("key-value", "key-value"),
        ("net-zero", "net-zero"),
    ],
)
def test_frequent_words_and_those_with_an_ending_are_joined(word: str, right: str) -> None:
    parted = "-\n".join(word.split("-"))
    found = clean(f"It is {parted} here.", known=is_ordinary, frequent=_FREQUENT.__contains__)
    assert found.text == f"It is {right} here."
    assert clean(f"It is {parted} here, or {word}.", known=is_ordinary).text.count("-") >= 1
