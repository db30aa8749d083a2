"""Capitals: both cases in examples, and what holds of any text in any script."""

from __future__ import annotations

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from sumfit.text import capitalization
from sumfit.text.capitalization import CAPITALIZATIONS, Capitalizer, _begins_at
from sumfit.truth.names import is_ordinary

SOURCE = (
    "Engineers closed the old harbour bridge on Tuesday after a trip to The Hague. "
    "NASA's iPhone app uses `npm`, and the engineers of Brightfield left. Senators said no."
)


@pytest.mark.parametrize(
    ("text", "sentence", "title"),
    [
        ("old bridge to close", "Old bridge to close", "Old Bridge to Close"),
        ("Old Bridge To Close For Engineers", "Old bridge to close for engineers",
         "Old Bridge to Close for Engineers"),
        ("why Engineers left", "Why engineers left", "Why Engineers Left"),
        ("Brightfield's engineers leave The Hague", "Brightfield's engineers leave The Hague",
         "Brightfield's Engineers Leave The Hague"),
        ("iPhone app uses npm", "iPhone app uses npm", "iPhone App Uses npm"),
        ("npm used by NASA", "npm used by NASA", "npm Used by NASA"),
        ("“old bridge” closed", "“Old bridge” closed", "“Old Bridge” Closed"),
        ("'old' bridge isn't open", "'Old' bridge isn't open", "'Old' Bridge Isn't Open"),
        ("12 bridges closed", "12 bridges closed", "12 Bridges Closed"),
        ("state-of-the-art bridge", "State-of-the-art bridge", "State-of-the-Art Bridge"),
        ("bridge: the end", "bridge: the end", "Bridge: The End"),
        ("how to log in", "How to log in", "How to Log In"),
        ("bridge is up for sale", "Bridge is up for sale", "Bridge Is Up for Sale"),
        ("main() and --dry-run of util.py", "main() and --dry-run of util.py",
         "main() and --dry-run of util.py"),
        ("snake_case names", "snake_case names", "snake_case Names"),
        ("мост закроют", "Мост закроют", "Мост Закроют"),
        ("橋を閉鎖", "橋を閉鎖", "橋を閉鎖"),
        ("الجسر مغلق", "الجسر مغلق", "الجسر مغلق"),
        ("🎉 the bridge", "🎉 The bridge", "🎉 The Bridge"),
        ("élan of the bridge", "Élan of the bridge", "Élan of the Bridge"),
        ("ßbridge", "Ssbridge", "Ssbridge"),
        ("ﬁsh sold", "Fish sold", "Fish Sold"),
        ("İzmir bridge", "İzmir bridge", "İzmir Bridge"),
    ],
)  # fmt: skip
def test_sentence_and_title_case(text: str, sentence: str, title: str) -> None:
    assert Capitalizer(SOURCE)(text) == sentence
    assert Capitalizer(SOURCE, "sentence")(text) == sentence
    assert Capitalizer(SOURCE, "title")(text) == title
    assert Capitalizer(SOURCE, "source")(text) == text
    assert Capitalizer(SOURCE, "lower")(text) == unicodedata.normalize("NFC", text.lower())


def test_a_text_that_begins_in_lower_case_keeps_that_by_itself() -> None:
    source = "hey all, the old bridge is closed"
    assert Capitalizer(source)("old bridge closed") == "old bridge closed"
    assert Capitalizer(source, "sentence")("old bridge closed") == "Old bridge closed"
    assert Capitalizer(SOURCE)("old bridge closed", keeps=True) == "old bridge closed"
    assert Capitalizer(SOURCE, "sentence")("old bridge closed", keeps=True) == "Old bridge closed"


@pytest.mark.parametrize(
    ("prefix", "by_itself", "asked"),
    [
        ("", "Old bridge", "Old bridge"),
        ("News: ", "Old bridge", "Old bridge"),
        ("[12] ", "Old bridge", "Old bridge"),
        ("fix: ", "old bridge", "Old bridge"),
        ("Why the ", "old bridge", "old bridge"),
        ("Today, ", "old bridge", "old bridge"),
    ],
)
def test_behind_a_prefix(prefix: str, by_itself: str, asked: str) -> None:
    assert Capitalizer(SOURCE)("old bridge", prefix=prefix) == by_itself
    assert Capitalizer(SOURCE, "sentence")("old bridge", prefix=prefix) == asked
    assert Capitalizer(SOURCE, "title")("old bridge", prefix=prefix) == "Old Bridge"


PARTS = (
    *("The", "of", "NASA", "iPhone", "ß", "ﬁ", "İ", "ı", "ǆ", "ŉ", "ΐ", "x̂y", "👩‍💻", "مرحبا"),
    *(
        "橋",
        "don't",
        "co-op",
        "“a",
        "`b`",
        "fix:",
        "U.S.",
        "e\u0301",
        "ΣΑΣ",
        "The Old Bridge Is In",
    ),
)
TEXTS = st.lists(st.text(max_size=8) | st.sampled_from(PARTS), max_size=7).map(
    lambda parts: unicodedata.normalize("NFC", " ".join(parts))
)


@given(TEXTS, TEXTS, st.sampled_from([None, *CAPITALIZATIONS, "lower"]), TEXTS)
def test_only_letters_change_and_only_once(
    text: str, source: str, case: str | None, prefix: str
) -> None:
    capitalizer = Capitalizer(source, case)
    made = capitalizer(text, prefix=prefix)
    plain = [unicodedata.normalize("NFKD", one.upper()) for one in (made, text)]
    assert plain[0] == plain[1]
    assert made.count(" ") == text.count(" ")
    assert unicodedata.is_normalized("NFC", made)
    assert capitalizer(made, prefix=prefix) == made


@pytest.mark.parametrize(
    ("source", "given", "expected"),
    [
        (
            "We study how Graph Neural Networks (GNNs) forget, and mend it.",
            "How Graph Neural networks forget",
            "How Graph Neural Networks forget",
        ),
        (
            "We study Graph Neural Networks. Some neural networks forget.",
            "How Graph Neural networks forget",
            "How Graph Neural networks forget",
        ),
        (
            "The pact between Norway and the East Coast Council holds.",
            "Pact with East coast council holds",
            "Pact with East Coast Council holds",
        ),
    ],
)
def test_a_name_of_several_words_has_its_capitals_in_all(
    source: str, given: str, expected: str
) -> None:
    assert Capitalizer(source)(given) == expected


def test_a_word_from_the_beginning_of_a_sentence_is_no_name_if_it_is_ordinary() -> None:
    source = "We mend bicycles. Bring yours before noon. Apple juice is free."
    known = Capitalizer(source, is_ordinary={"bring"}.__contains__)
    assert known("We mend bicycles, Bring yours, Apple juice") == (
        "We mend bicycles, bring yours, Apple juice"
    )
    assert Capitalizer(source)("We mend bicycles, Bring yours") == "We mend bicycles, Bring yours"


BEGINS = regex.compile(
    r"(?:^\s*|[.!?…:–—|•*]\s*|-\s+|(?<![^\W_])-|[\p{Pi}\"'(\[]\s*)[\p{Pi}\p{Ps}\"']*\Z"
)  # a hyphen between two words of a compound begins nothing


@given(st.text("aB1 .:-*({[“«\"'’)\n\u3000", max_size=12), st.integers(0, 12))
def test_where_something_begins_is_seen_from_the_marks_before_it(text: str, least: int) -> None:
    for at in range(len(text) + 1):
        assert _begins_at(text, at) == bool(BEGINS.search(text[:at]))
        near = text[:at] if at <= least else "x" + text[at - least : at]
        assert _begins_at(text, at, least=max(0, at - least)) == bool(BEGINS.search(near))


@pytest.mark.parametrize("case", [*CAPITALIZATIONS, None, "lower"])
@pytest.mark.parametrize("part", ["A b ", "a b ", "(", "“ A", "A. ", "`A` ", "A-", "A: b"])
def test_a_text_of_any_length_gets_its_capitals_in_linear_time(
    case: str | None, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each word looked at all before it: minutes for these, hours for a megabyte."""
    monkeypatch.setattr(capitalization, "_MOST_SET", 10**9)
    text = part * (60_000 // len(part))
    made = Capitalizer(text, case)(text)
    short = Capitalizer(text, case)(part * 50)
    assert made[: len(part) * 40] == short[: len(part) * 40]
    assert len(made) == len(text)


def test_a_text_that_is_no_summary_keeps_its_capitals() -> None:
    text = "the old bridge " * 1000
    assert Capitalizer(text, "title")(text) == text
    assert Capitalizer(text, "title")(text[:9000]).startswith("The Old Bridge")
    assert Capitalizer("THE OLD", "lower")("THE " * 9000) == "the " * 9000


@pytest.mark.parametrize(
    ("source", "text", "shown"),
    [
        (
            "We propose a way of Speech Emotion Recognition.",
            "A way of speech Emotion Recognition",
            "A way of Speech Emotion Recognition",
        ),
        (
            "Speech Emotion Recognition (SER) is hard.",
            "Ways of speech Emotion Recognition",
            "Ways of Speech Emotion Recognition",
        ),
        (
            "Former Prime Minister Smith met her.",
            "Talks of former Prime Minister Smith",
            "Talks of former Prime Minister Smith",
        ),
        (
            "A lamp with USB-C. Runs up to 12 hours.",
            "Lamp with USB-C. runs up to 12 hours",
            "Lamp with USB-C. Runs up to 12 hours",
        ),
        (
            "It passed. Mrs Keller leads.",
            "It passed; mrs Keller leads",
            "It passed; Mrs Keller leads",
        ),
        ("`tidycsv` checks files.", "check files", "Check files"),
        (
            "Prior Vision-Language-Action (VLA) models are slow.",
            "Slow Vision-Language-action models",
            "Slow Vision-Language-Action models",
        ),
    ],
)
def test_names_and_beginnings_have_the_capitals_of_the_source(
    source: str, text: str, shown: str
) -> None:
    assert Capitalizer(source)(text) == shown


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("mid-1990s bridge", "Mid-1990s bridge"),
        ("under-18s barred", "Under-18s barred"),
        ("post-9/11 rules", "Post-9/11 rules"),
        ("non-EU staff", "Non-EU staff"),
        ("and/or both", "And/or both"),
        ("cost–benefit study", "Cost–benefit study"),
        ("employee(s) paid", "Employee(s) paid"),
        ("workshop: bring tools", "Workshop: bring tools"),
        ("report: bridge closed", "Report: bridge closed"),
        ("utf-8 names", "utf-8 names"),
        ("tcp/ip names", "tcp/ip names"),
        ("snake_case names", "snake_case names"),
        ("iPhone sold", "iPhone sold"),
        ("eBay: bridge sold", "eBay: bridge sold"),
        ("fix: mend the bridge", "fix: mend the bridge"),
        ("quinn: mend the bridge", "quinn: mend the bridge"),
        ("storage: mend the bridge", "storage: mend the bridge"),
        ("and/or-ed", "and/or-ed"),
    ],
)
def test_a_line_begins_with_a_capital_unless_with_a_code(given: str, expected: str) -> None:
    source = "A report on the bridge. See storage: it is full."
    assert Capitalizer(source, "sentence", is_ordinary)(given) == expected
    assert Capitalizer(source, None, is_ordinary)(given) == expected


def test_the_label_of_a_commit_stays_small() -> None:
    given = "parser: mend the bridge"
    assert Capitalizer(SOURCE, "sentence", is_ordinary)(given, keeps=True) == given
    assert Capitalizer(SOURCE, "sentence", is_ordinary, keeps_labels=True)(given) == given
    assert Capitalizer(SOURCE, "sentence", is_ordinary)(given) == given.capitalize()
