"""Words parted at line ends."""

import pytest

from sumfit.cleaning import clean
from sumfit.truth.names import is_ordinary


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The har-\nbour is shut.", "The harbour is shut."),
        ("It is ten centi-\n  metres deep.", "It is ten centimetres deep."),
        ("It rained, there-\nfore we stayed.", "It rained, therefore we stayed."),
        ("We saw the Elec-\ntrophoresis of sam-\nples.", "We saw the Electrophoresis of samples."),
        ("It opens on Tues-\nday, Mrs Har-\ngreaves.", "It opens on Tuesday, Mrs Hargreaves."),
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
    "text",
    [
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
