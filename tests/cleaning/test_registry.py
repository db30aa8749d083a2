"""All kinds together: what they promise of any text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.cleaning import INPUT_KINDS, Cleaned, clean
from sumfit.cleaning import registry as registry_module
from sumfit.cleaning.blocks import has_words
from sumfit.errors import ConfigError, InputTooLongError, TimeLimitError
from sumfit.truth.names import is_ordinary
from tests.clocks import Clock

WORDS = st.sampled_from(
    "the council closes a bridge in May because Ann's 5 boats (and 2.5 rafts) leak; it's C++ F# "
    "so-called 10:30 $15 50% a/b e.g. U.S. IT NATO - – — <3 x<y a>b R&D f(x) *note snake_case "
    "'quoted' “said” C:\\dir #1 @ann 3-2 i.e. [sic] [1] `code` ~5 ^2 = == + |".split()
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=14).map(lambda words: f"So {' '.join(words)}.")
PROSE = st.lists(SENTENCES, min_size=1, max_size=6).map(" ".join)


@given(st.lists(PROSE, min_size=1, max_size=4).map("\n\n".join))
def test_plain_prose_comes_back_byte_for_byte(text: str) -> None:
    for known in (None, is_ordinary):
        found = clean(text, known=known)
        assert found.text is text
        assert found.removed == ()


MARKS = st.sampled_from(
    "<p> </p> <b> <!-- --> <script> &amp; &lt ** * __ _ ` ``` ~~~ # ## - 1. > >> | |---| [ ]( ) "
    "[[ ]] "
    "{{ }} {| '' ''' == : :: :wave: https://x.org/a www. @@ -1 +1 diff --git a/x b/x --- +++ "
    "From: To: Subject: Re: On wrote: Best regards, -- Ann: HOST: 0:01 [00:00:03] --> WEBVTT 1 "
    "Traceback (most recent call last): at f(x) [b] [/b] [x y=1] "
    "[code] [*] [list] \\emph{ \\begin{a} } $ a-\nb uh, Refs: 0:02 Intro "
    "LONDON (AP) - Read more Photo: "
    "THE CITY HAS CLOSED It rained. Ann said so. word \n \n\n \r\n \t é 東京 🎉 "
    "\ufdd0 \ud800".split(" ")
)
MESS = st.lists(MARKS, max_size=40).map(" ".join) | st.text(max_size=60)


@given(MESS, st.sampled_from(INPUT_KINDS))
def test_any_text_of_any_kind_gives_a_text(text: str, kind: str) -> None:
    found = clean(text, kind)
    assert isinstance(found, Cleaned)
    assert found.kind in INPUT_KINDS
    assert (found.text == text) or found.removed
    assert has_words(found.text) or not has_words(text)
    if not found.removed:
        assert found.text is text


@given(MESS)
def test_cleaning_adds_no_words(text: str) -> None:
    if "diff" in clean(text).removed or "trace" in clean(text).removed:
        return  # these tell in words of their own
    given_letters = {letter.lower() for letter in text}
    added = {letter.lower() for letter in clean(text).text} - given_letters
    assert not {letter for letter in added if letter.isalpha()}


def test_only_the_head_of_a_long_text_is_looked_at() -> None:
    prose = "The council closes a bridge in May. "
    long = prose * (registry_module._MOST_PROBED // len(prose) + 10)
    assert clean(long + "<p>It <b>rained</b>.</p>").text == long + "<p>It <b>rained</b>.</p>"
    assert clean("<p>It <b>rained</b>.</p>" + long + "<i>x</i>").text.startswith("It rained.")


def test_a_step_for_which_there_is_no_time_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes for a long text is told from what it took for its beginning."""
    clock = Clock(step=0.5)
    monkeypatch.setattr(registry_module, "_clock", clock)
    monkeypatch.setattr(registry_module, "_MOST_PROBED", 20_000)
    text = "The *council* closes a [bridge](https://example.org) in May.\n\n" * 2000
    asked: list[float] = []

    def check(needs_s: float = 0.0, /) -> None:
        asked.append(needs_s)
        if needs_s > 3.0:
            raise TimeLimitError("too long")

    with pytest.raises(TimeLimitError, match="too long"):
        clean(text, check=check)
    n_steps = asked.count(0.0)
    assert asked[n_steps:] == [pytest.approx(0.5 * len(text) / 20_000)]
    found = clean(text, check=asked.append)
    assert found == clean(text)
    assert found.removed == ("markdown",)


def test_a_page_of_fifty_megabytes_is_refused_and_plain_text_is_not() -> None:
    page = "<p>It <b>rained</b> all day.</p>" * 1_600_000
    started = time.perf_counter()
    with pytest.raises(InputTooLongError, match=r"51200000 characters and html in it.*clean=False"):
        clean(page)
    plain = "It rained all day. " * 2_700_000
    assert clean(plain).text is plain
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    "unit",
    [
        "<a ",
        "<!--",
        "<nav>",
        "&amp;",
        "**",
        "[a](",
        "{{",
        "> a\n",
        "Thanks,\nTom\n",
        "A: b c\n",
        "0:01 a\n",
        "-a\n+b\n",
        "- a\n",
        "``` \n",
        "'''",
        '<a href="',
        "THE END IS. ",
        "On a wrote:\n",
        "har-\nbour ",
        "a-\n",
        "\\emph{\\cite",
        "\\begin{figure}",
        "$",
        "$x^",
        "\\[",
        "[quote][code]",
        "[*]",
        "Fixes: a\n",
        "Refs: a, a",
        "uh, ",
        "A: um.\n",
        "**Q: a**\n",
        "x at www.a.b/c ",
        "a at ",
    ],
)
def test_time_grows_in_step_with_the_text(unit: str) -> None:
    begun = "\\begin{abstract}\\emph{It} rained. " if unit[0] in "\\$" else ""

    def seconds(n_chars: int) -> float:
        text = unit * (n_chars // len(unit))
        took = []
        for _ in range(3):  # the machine may be busy
            started = time.perf_counter()
            clean(begun + text, known=is_ordinary)
            took.append(time.perf_counter() - started)
        return min(took)

    seconds(1000)
    assert seconds(120_000) < 60 * max(seconds(10_000), 0.003)  # quadratic time is 144 times


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"input_kind must be one of 'auto', .*, was 'pdf'"):
        clean("It rained.", "pdf")


@pytest.mark.parametrize("kind", INPUT_KINDS)
def test_every_kind_leaves_a_sentence_alone(kind: str) -> None:
    assert clean("It rained all day.", kind).text == "It rained all day."


def test_a_labelled_line_behind_an_item_is_a_sentence_of_its_own() -> None:
    text = "1. Open a table\n2. Choose Export\nActual result: it hangs\nExpected result: it ends"
    assert clean(text).text == (
        "Open a table.\nChoose Export.\nActual result: it hangs.\nExpected result: it ends"
    )
    assert clean("- Buy bread\n- See the map,\nRoute: Leeds").text.endswith("the map, Route: Leeds")
