"""The last look at a finished text: joined words, pairs of marks, labels, questions, clusters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.text.surface import Surface, has_whole_pairs, junctions

SOURCE = (
    "Quick note :wave: the two-year-old lie-in isn't over: mail jo@odell.org or see "
    "https://odell.org/a. Will R&D ship `run_all` on the 12th, at 10:30? "
    "The record from '78 was ‘sold’ 🎉 by 👩‍💻 for €5 – a bargain at O’Brien’s."
)
JOINED = "words are joined that the text does not join"
PAIRS = "a quotation mark, bracket or backtick stands alone"
ROW = "marks stand in a row"
CUT = "a character is cut in two"
QUESTION = "it asks what the text does not ask"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Two-year lie-in isn't over", None),
        ("Two-Year Lie-In Isn’t Over", None),
        ("lie-ins't over", JOINED),
        ("Note:wave the record", JOINED),
        ("Quick note :wave:", None),
        ("Quick note :wav", JOINED),
        ("Jo@odell mails", JOINED),
        ("jo@odell.org's record", None),
        ("Mail jo@odell.org", None),
        ("See https://odell.org/a", None),
        ("See https://odell", JOINED),
        ("See run_al", JOINED),
        ("See std::run", JOINED),
        ("R&D ships run_all()", None),
        ("R&D ships `run_all`", None),
        ("R&D ships run", None),
        ("78's record sold", JOINED),
        ("Record of '78 sold", None),
        ("Record sold on 12th at 10:30", None),
        ("Record sold for €5", None),
        ("O'Brien's record", None),
        ("The's record", JOINED),
        ("Record's sale", None),
        ("’t sell", JOINED),
        ("Record 's sale", JOINED),
        ("1,000 records at 3.5", None),
        ("Record sold 3x", JOINED),
        ("Record ‘sold'", PAIRS),
        ("Record ‘sold’", None),
        ("Record 'sold'", None),
        ("Record 'sold’", PAIRS),
        ('Record “sold"', PAIRS),
        ("Record (sold", PAIRS),
        ("Record [sold)", PAIRS),
        ("Record ` sold", PAIRS),
        ("Record , , sold", ROW),
        ("record ### ### sold", ROW),
        ("record :", "a label stands alone"),
        ("Update:", "a label stands alone"),
        ("Record sold?", QUESTION),
        ("Will R&D ship?", None),
        ("Record sold 🎉", None),
        ("Record sold by 👩‍💻", None),
        ("Record sold by 👩", CUT),
        ("Record sold 💻", CUT),
        ("Record \u0301sold", CUT),
    ],
)
def test_faults(text: str, fault: str | None) -> None:
    assert Surface(SOURCE).fault(text) == fault


def test_each_half_of_the_check_can_be_left_out() -> None:
    surface = Surface(SOURCE)
    assert surface.fault("lie-ins't over", whole_words=False) is None
    assert surface.fault("Record ‘sold'", tidy=False) is None
    assert surface.fault("Record sold 👩", whole_words=False, tidy=False) == CUT
    assert Surface(SOURCE, vouched=("old-dog",)).fault("an old-dog") is None


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("Jo: ‘Don’t ship on Fridays’", True),
        ("Jo: ‘Don’t ship on Fridays'", False),
        ("Jo: ‘Don't ship on Fridays", False),
        ("runners’ race", True),
        ("runners' race in '78, rock 'n' roll", True),
        ("’Tis the ’90s", True),
        ("man’s “best (old) friend”", True),
        ("“best (old” friend)", False),
        ("close)", False),
        ("use '{tilde}' here", True),
        ("the `code` of it", True),
        ("`` we won '' , he said", True),
        ("`` we won , he said", False),
        ("the workers ' strike", True),
        ("„Brücke“ und «pont» und 「橋」", True),
        ("「橋", False),
        ("", True),
    ],
)
def test_pairs(text: str, is_whole: bool) -> None:
    assert has_whole_pairs(text) is is_whole


PARTS = st.sampled_from(
    (
        *(
            "two-year",
            "isn't",
            "橋を",
            "👩‍💻",
            "🇫🇷",
            "é",
            "x̂y",
            "مرحبا",
            "O’Brien",
            "‘a’",
            "(b)",
            "`c`",
        ),
        *("10:30", "a@b", ":wave:", "€5", "12th", "नमस्ते", "ไทย", "#tag", "--dry-run", "a_b"),
    )
)


@given(st.lists(PARTS, max_size=6), st.data())
def test_a_text_has_no_fault_in_its_own_words(parts: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.permutations(parts)) if parts else []
    chosen = list(dict.fromkeys(chosen[: data.draw(st.integers(0, len(parts)))]))
    assert Surface(" ".join(parts)).fault(" ".join(chosen)) is None


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_texts_can_be_looked_at(source: str, text: str) -> None:
    surface = Surface(source)
    assert surface.fault(text, whole_words=False, tidy=False) in (None, CUT)
    assert surface.fault(source, tidy=False) in (None, CUT)
    for left, marks, right in junctions(source):
        assert marks if not left else marks or right  # a clitic may stand alone: "'s"
        assert left or not right


def test_a_clitic_alone_is_a_junction_of_its_own() -> None:
    assert list(junctions("'S")) == [("", "'S", "")]


@pytest.mark.parametrize(
    ("text", "is_sound"),
    [
        ("Drop MAX_SIZE from rk3399 boards", True),
        ("Drop max_SIZE from rk3399 boards", False),
        ("Drop MAX_SIZE from Rk3399 boards", False),
        ("Drop 3 boards", True),
    ],
)
def test_names_of_code_keep_their_letters(text: str, is_sound: bool) -> None:
    source = "The constant MAX_SIZE goes from 3 boards, among them the rk3399."
    assert (Surface(source).fault(text) is None) is is_sound


@pytest.mark.parametrize(
    ("text", "is_sound"),
    [
        ("net: Free the buffer", False),
        ("ipv4: route: Free the buffer", True),
        ("ipv4: net: Free the buffer", False),
        ("Route: the buffer is free", True),
        ("Free the buffer: two ways", True),
    ],
)
def test_a_label_is_made_of_words_of_the_text(text: str, is_sound: bool) -> None:
    source = "The route dump of ipv4 did not free the buffer. There are two ways."
    assert Surface(source).has_labels(text) is is_sound
