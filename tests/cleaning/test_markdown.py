"""Markdown, lists, front matter and paragraphs without an end."""

import re

import pytest

from sumfit.cleaning import clean


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("# Moving house\n\nThe shop moves in May.", "Moving house.\nThe shop moves in May."),
        ("Moving house\n============\nThe shop moves.", "Moving house.\nThe shop moves."),
        (
            "* Backups ([#12](https://x.org/12))\n* Undo ([3f2a91c](u)) (see [it](u))",
            "Backups.\nUndo (see it)",
        ),
        ("The **shop** moves in *May* and ~~June~~ stays.", "The shop moves in May and  stays."),
        ("***Note*** the __new time__ of **9**", "Note the new time of 9"),
        ('See [the plan](https://example.org/a_(b) "x") now', "See the plan now"),
        ("![logo](a.png) The shop moves.", "The shop moves."),
        ("[![badge](a.svg)](https://x.org)\n# Oven\nA bread oven.", "Oven.\nA bread oven."),
        ("Run it:\n```sh\nmake **all**\n```\nIt takes a minute.", "Run it:\nIt takes a minute."),
        ("```\nmake all\n```", "make all"),
        ("# Run\n```\nmake", "Run.\nmake"),
        ("| Pin | Use |\n|---|---|\n| D2 | LED |\n\nA small **board**.", "A small board."),
        ("| Pin | Use |\n|---|---|\n| D2 | LED |", "Pin, Use.\nD2, LED"),
        ("**Done**\n\n---\n\nWe ship.", "Done.\nWe ship."),
        ("A **fact**[^1].\n\n[^1]: Smith 2020", "A fact."),
        ("> [!NOTE] The **door** is shut.", "The door is shut."),
        (r"**a** costs 5\* and 3\_4", "a costs 5* and 3_4"),
    ],
)
def test_marks_of_markdown_are_not_content(page: str, text: str) -> None:
    found = clean(page)
    assert re.sub(r"\n+", "\n", found.text) == text
    assert found.kind == "markdown"


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4 is 24",
        "Call __init__ of my_long_name and *args, **kwargs",
        "The #1 reason is C# and F#",
        "It costs 5* a month",
        "Set `a_b` or `**c**` by hand",
        "a [note] and a (bracket)",
        "a | b | c",
    ],
)
def test_marks_that_people_write_stay(text: str) -> None:
    assert clean(text).text is text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            "We saw:\n\n- Norway: Oslo\n- Chile: Santiago,\n- Kenya",
            "We saw:\nNorway: Oslo.\nChile: Santiago.\nKenya",
        ),
        ("- **Norway**: Oslo\n- **Chile**: Santiago", "Norway: Oslo.\nChile: Santiago"),
        ("1. Wash the pan\n2. Dry it!\n3. Stop", "Wash the pan.\nDry it!\nStop"),
        ("• one thing\n  that goes on\n• another", "one thing that goes on.\nanother"),
        ("- [x] paint\n- [ ] sand", "paint.\nsand"),
        ("a) red\nb) blue\n\nThat is all.", "red.\nblue.\nThat is all."),
    ],
)
def test_items_of_a_list_are_sentences_of_their_own(page: str, text: str) -> None:
    found = clean(page)
    assert found.text == text
    assert "lists" in found.removed


@pytest.mark.parametrize(
    "text",
    [
        "- one item",
        "The year was\n1986. It rained",
        "5 - 3 is 2\nand 4 - 1 is 3",
        "-5 degrees\n-6 later",
    ],
)
def test_what_is_no_list_stays(text: str) -> None:
    assert clean(text).text is text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("---\ntitle: Ferry\ntags:\n  - a\n- b\n---\n\nThe ferry stops.", "The ferry stops."),
        ('+++\ntitle = "Ferry"\n[params]\n+++\nThe ferry stops.', "The ferry stops."),
        ("---\r\ntitle: Ferry\r\n---\r\nThe ferry stops.", "The ferry stops."),
        ('---\ntitle: "Ferry stops"\ndraft: true\n---\n', "Ferry stops"),
    ],
)
def test_front_matter_is_no_content(page: str, text: str) -> None:
    assert clean(page).text == text
    assert clean(page).removed[0] == "front-matter"


@pytest.mark.parametrize(
    "text", ["---\nThe ferry stops.\n---\nIt rained.", "---\ntitle: Ferry", "---", "--- a"]
)
def test_rules_are_no_front_matter(text: str) -> None:
    assert "front-matter" not in clean(text).removed


def test_a_heading_does_not_run_into_the_text() -> None:
    found = clean("Old ferry to stop\n\nThe port said so.")
    assert found.text == "Old ferry to stop.\nThe port said so."
    assert found.removed == ("paragraphs",)
    assert clean("It rained.\n\nThe port said so.").removed == ()
    assert clean("a line that\n\ngoes on").removed == ()


def test_a_line_in_bold_is_a_heading() -> None:
    page = "**Describe the bug**\nThe table loses its width.\n\n**Version**\n3.2"
    assert clean(page).text == "Describe the bug.\nThe table loses its width.\n\nVersion.\n3.2"
    inline = "It **never\nstops** at the pier, **not once**\nin winter."
    assert "." not in clean(inline).text.removesuffix(".")


def test_a_title_right_above_the_text_does_not_run_into_it() -> None:
    text = "Potato pancakes\nPeel a kilo of potatoes and grate them into a large bowl."
    assert clean(text).text == text.replace("pancakes\n", "pancakes.\n")
    wrapped = "The old ferry of the Northern\nLine stops on Friday."
    assert clean(wrapped).text is wrapped
    assert clean("Place: Leeds\nThe choir sings on Friday at eight in the town hall.").removed == ()


def test_lines_that_were_not_wrapped_are_parted() -> None:
    notes = "Roof: three offers so far\nFees rise to 90 a year\nTwo new members\nLift is broken"
    assert clean(notes).text == notes.replace("\n", ".\n")
    wrapped = (
        "The club met at the house of the\nMayor and talked of the roof, the\nfees and of "
        "what is to be done in\nMay with the lift, which is broken"
    )
    assert clean(wrapped).text == wrapped
    title = (
        "A Decoding Algorithm for Length-Control\nSummarization Based on Directed\nAcyclic Words"
    )
    assert clean(title).text == title
    paid = "He paid $5\n10 days later the shop closed and nobody got the money back."
    assert clean(paid).text == paid
    poem = "the rain\non the Roof\nof the barn\nand the Hay"
    assert clean(poem).text == poem


def test_short_lines_above_a_list_are_lines_of_their_own() -> None:
    text = "Works council, 6 May\nPresent: 7 members\n1. The canteen\n2. A party"
    assert clean(text).text == "Works council, 6 May.\nPresent: 7 members.\nThe canteen.\nA party"
    wrapped = "These are the two things that the council talked about in\nMay:\n- canteen\n- party"
    assert clean(wrapped).text.startswith(
        "These are the two things that the council talked about in May:"
    )
