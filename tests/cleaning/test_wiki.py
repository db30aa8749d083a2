"""Wiki markup and shortcodes."""

import pytest

from sumfit.cleaning import clean


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            "'''Otter Lake''' is a [[lake]] in [[Norway|the north]].<ref>Lee 2020</ref>{{cn}}\n"
            "== History ==\nIt was dammed in 1911.\n[[Category:Lakes]]",
            "Otter Lake is a lake in the north.\nHistory.\nIt was dammed in 1911.",
        ),
        (
            "{{Infobox|a={{b|c}}}}\n'''Ann''' was a ''painter''.\n* Oils\n* Ink",
            "Ann was a painter.\nOils.\nInk",
        ),
        (
            "[[File:A.jpg|thumb|A [[lake]]]] The [[Otter]] and the [[Mink]] live here.",
            "The Otter and the Mink live here.",
        ),
        (
            "{| class=x\n! a\n| b\n|}\n'''Ann''' paints, says [https://x.org the paper].",
            "Ann paints, says the paper.",
        ),
        (
            "h2. Plan\nThe shop moves.\n{code}x = 1{code}\nIn May.",
            "Plan.\nThe shop moves.\nIn May.",
        ),
    ],
)
def test_wiki_markup_is_not_content(page: str, text: str) -> None:
    found = clean(page)
    assert found.text == text
    assert found.kind == "wiki"


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2], [3, 4]]",
        "Use {{ name }} in it",
        "if [[ -f x ]]; then stop",
        "It's 'so' and ''so''",
        "a == b and c == d",
        "[[nodiscard]] int f();",
    ],
)
def test_code_is_no_wiki_markup(text: str) -> None:
    assert clean(text).text is text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            '[et_pb_section bb_built="1"][et_pb_text]Bread since '
            "1952.[/et_pb_text][/et_pb_section]",
            "Bread since 1952.",
        ),
        ("[b]Bread[/b] from [url=https://x.org]Graz[/url]", "Bread from Graz"),
        ('[quote="Ann"]Is it [quote]mine[/quote] sold?[/quote]\nYes, [i]today[/i].', "Yes, today."),
        ("[quote]Bread since 1952.[/quote]", "Bread since 1952."),
        ("[quote] Bread since [b]1952[/b].", "[quote] Bread since 1952."),
        (
            "[B]Bread[/B] [img]https://x.org/a.png[/img][size=5]in [color=red]May[/color][/size]",
            "Bread in May",
        ),
        (
            "[b]News[/b]: bread ([i]rye[/i]) [url]x.org[/url](soon).",
            "News: bread (rye) x.org(soon).",
        ),
        ("Bread[code]x = 1[/code][s] on Monday[/s] today.", "Bread today."),
        ('{{< figure src="a.png" >}}\nBread since 1952.', "Bread since 1952."),
        ('[gallery ids="1,2"] Bread since 1952.', "Bread since 1952."),
        ('[form-7 id="1"]Bread [note]since [b]1952[/b][/note].', "Bread since 1952."),
        ("[button url=/a]Bread[/button] since 1952.", "Bread since 1952."),
        ("[tr][th]Bread[/th][TD]Milk[/TD][/tr]", "Bread Milk"),
    ],
)
def test_shortcodes_are_not_content(page: str, text: str) -> None:
    assert clean(page).text == text
    assert clean(page).removed == ("shortcodes",)


def test_items_of_a_forum_are_sentences() -> None:
    page = "Bring these: [list]\n[*]A lamp\n[*][i]Old[/i] boots\n[/list]Be early."
    assert clean(page).text == "Bring these:\nA lamp.\nOld boots.\nBe early."
    page = "[list][*]Bread[*]Milk[/list] Buy it today."
    assert clean(page).text == "Bread.\nMilk.\nBuy it today."
    chain = "[quote=Ann]Where? [code]x[/code][/quote]Go to [url]https://x.org/a/b[/url] first."
    assert clean(chain).text == "Go to x.org first."


@pytest.mark.parametrize("text", ["[b] is a key", "Press [b] or [i].", "[*] marks a star"])
def test_keys_in_brackets_are_no_forum_code(text: str) -> None:
    assert clean(text).text is text


@pytest.mark.parametrize(
    "text",
    [
        "It is so [sic] [1] [RFC]",
        "Moved [my_long_name] to style",
        "see [a](b) c[0]",
        "[x]",
        "He wrote [name] and [date=today] in the form and [/name]",
        "Replace [name] with [/date] or [a=1] in it",
        "Put [/name] in [my_name]",
    ],
)
def test_brackets_that_people_write_stay(text: str) -> None:
    assert "shortcodes" not in clean(text).removed
