"""Text in capitals and in title case."""

import pytest

from sumfit.cleaning import clean
from sumfit.truth.names import is_ordinary

KNOWN = frozenset("solar panel maker said on it would close its oldest factory today".split())


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (
            "THE COUNCIL HAS REJECTED A PLAN TO RAISE FARES BY $15.",
            "The council has rejected a plan to raise fares by $15.",
        ),
        (
            "SNOW IS EXPECTED IN DES MOINES FROM 6 PM FRIDAY. 3 TO 5 INCHES.",
            "Snow is expected in Des Moines from 6 pm Friday. 3 to 5 inches.",
        ),
        (
            "THE U.S. AND THE UN SEND COVID-19 TESTS TO INDIA, SAYS MR. ODELL",
            "The U.S. and the UN send COVID-19 tests to India, says Mr. Odell",
        ),
        (
            "I THINK IT'S TIME FOR US TO LEAVE NEW YORK",
            "I think it's time for us to leave New York",
        ),
        ("THE US SENATE MEETS ON MAY 4, IT MAY RAIN", "The US senate meets on May 4, it may rain"),
        (
            "The Norrland mine reopens.\nTHE NORRLAND MINE WILL EMPLOY 300 PEOPLE",
            "The Norrland mine reopens.\nThe Norrland mine will employ 300 people",
        ),
        ("MARIA SAYS THAT THE NHS LACKS 20 NURSES", "Maria says that the NHS lacks 20 nurses"),
    ],
)
def test_capitals_become_sentence_case(text: str, right: str) -> None:
    found = clean(text)
    assert found.text == right
    assert found.removed == ("capitals",)


@pytest.mark.parametrize(
    "text",
    [
        "NASA and NATO met the UN",
        "API, CPU, GPU, RAM, SSD",
        "Set FOO_BAR to 1 in A4 or B5",
        "OK, USA!",
    ],
)
def test_acronyms_are_no_capitals(text: str) -> None:
    assert clean(text).text is text


def test_a_word_that_nobody_knows_is_a_name() -> None:
    text = "SOLAR PANEL MAKER BRIGHTFIELD SAID IT WOULD CLOSE"
    assert "Brightfield" in clean(text, known=KNOWN.__contains__).text
    assert "brightfield" in clean(text).text


def test_title_case_keeps_names_and_needs_a_lexicon() -> None:
    text = "Solar Panel Maker Brightfield Said On Monday It Would Close Its Oldest Factory."
    right = "Solar panel maker Brightfield said on Monday it would close its oldest factory."
    assert clean(text, known=KNOWN.__contains__).text == right
    assert clean(text).text is text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "FERRY FROM OBAN TO MULL CANCELLED TODAY BECAUSE OF WIND.",
            "Ferry from Oban to Mull cancelled today because of wind.",
        ),
        (
            "MAYOR ANDREW COOPER RESIGNS AFTER AUDIT OF THE FUND.",
            "Mayor Andrew Cooper resigns after audit of the fund.",
        ),
        (
            "WATER IN MILL LANE AND PARK ROAD TURNED OFF.",
            "Water in Mill Lane and Park Road turned off.",
        ),
        ("MAN HELD ON COUNTRY ROAD NEAR READING.", "Man held on country road near Reading."),
        ("THEY TALKED ABOUT READING ON A BUSY ROAD.", "They talked about reading on a busy road."),
        (
            "WATER IN BUILDINGS A AND B OFF FOR A DAY. USE GATE C.",
            "Water in buildings A and B off for a day. Use gate C.",
        ),
        ("JOHN GREEN PAINTED HIS GREEN DOOR WHITE.", "John Green painted his green door white."),
    ],
)
def test_ordinary_words_that_are_names_here(text: str, shown: str) -> None:
    assert clean(text, known=is_ordinary).text == shown
