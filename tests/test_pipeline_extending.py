"""Further facts behind the line of a wide limit: which follow, in which order, never too long."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit import Summarizer
from sumfit.length import resolve_budget
from sumfit.pipeline.extending import Extender, may_extend
from sumfit.pipeline.options import Options
from sumfit.text import Tokenizer

LINE = "Ferry to Odell stops"
TEXT = (
    "The ferry to Odell stops on Monday. It is too old. Buses will cross the new bridge instead. "
    "And nobody paid. Will it ever return? Marta Lind runs a museum near the harbour. "
    "(Prices vary.) Mayor: We are sorry. They agree."
)
LONG = "The beekeeper Rosa Imhof has left her 40 hives to the village school. Pupils of the upper "
LONG += (
    "classes will look after them with a teacher who kept bees in Chile. The honey will be sold "
)
LONG += (
    "at the Christmas market, and the money goes to the class trip. Two hives stay behind glass "
)
LONG += "in the hall. Rosa Imhof moves to Odell in May, where her son runs a mill."
TRAM = (
    "Tram line 7 will be cut between Castle Square and the hospital from 4 to 29 August while the "
    "rails are renewed. Buses will run every eight minutes in its place. Tickets stay valid."
)
BEES = (
    "Researchers in Lisbon have trained bees to find land mines by smell. In a test the bees found "
    "19 of 20 buried samples within three days. A drone films the bees, and a program counts where "
    "they gather. The method works only by day."
)


@pytest.fixture(scope="module")
def default() -> Summarizer:
    return Summarizer.from_pretrained()


def extended(
    line: str,
    source: str,
    likely: Mapping[str, float] | None = None,
    is_supported: Any = lambda text: True,
    *,
    tokenizer: Tokenizer,
    **length: Any,
) -> tuple[str, tuple[str, ...]]:
    """What an extender makes of a line; ``likely`` has nats a piece of the ends of texts."""
    request = resolve_budget(**length, tokenizer=tokenizer)
    known = likely or {}

    def scores(begun: str, texts: Sequence[str]) -> list[float]:
        assert all(text.startswith(begun) for text in texts)
        return [next((n for end, n in known.items() if text.endswith(end)), 0.0) for text in texts]

    return Extender(source, request, tokenizer, scores, is_supported).extended(line)


def test_statements_follow_in_their_order(tiny_tokenizer: Tokenizer) -> None:
    """No link, question, label or bracket; what looks back only right behind what it looks at."""
    text, added = extended(LINE, TEXT, tokenizer=tiny_tokenizer, max_chars=300)
    assert text == (
        "Ferry to Odell stops; it is too old; buses will cross the new bridge instead; "
        "Marta Lind runs a museum near the harbour"
    )
    assert added == (
        "It is too old",
        "Buses will cross the new bridge instead",
        "Marta Lind runs a museum near the harbour",
    )


def test_a_limit_that_is_full_enough_gets_no_more(tiny_tokenizer: Tokenizer) -> None:
    text, added = extended(LINE, TEXT, tokenizer=tiny_tokenizer, max_chars=101)
    assert len(added) == 2
    assert 0.75 * 101 <= len(text) <= 101


@pytest.mark.parametrize("limit", [60, 99])
def test_one_statement_is_enough_for_a_narrow_limit(tiny_tokenizer: Tokenizer, limit: int) -> None:
    given_back = extended(LINE, TEXT, tokenizer=tiny_tokenizer, max_chars=limit)
    assert given_back == (LINE, ())


def test_what_is_said_already_does_not_follow(tiny_tokenizer: Tokenizer) -> None:
    source = "The ferry to Odell stops. The old ferry to Odell stops. Nobody minds the noise."
    _, added = extended(LINE, source, tokenizer=tiny_tokenizer, max_chars=200)
    assert added == ("Nobody minds the noise",)


def test_the_likeliest_is_taken_first_and_stands_where_the_text_has_it(
    tiny_tokenizer: Tokenizer,
) -> None:
    likely = {"bridge instead": -0.9, "near the harbour": -0.5, "too old": -1.5}
    given_back = extended(LINE, TEXT, likely, tokenizer=tiny_tokenizer, max_chars=110)
    assert given_back[1] == (
        "Buses will cross the new bridge instead",
        "Marta Lind runs a museum near the harbour",
    )
    unlikely = {**likely, "bridge instead": -9.0}
    _, added = extended(LINE, TEXT, unlikely, tokenizer=tiny_tokenizer, max_chars=300)
    assert added == ("It is too old", "Marta Lind runs a museum near the harbour")


def test_what_makes_a_whole_untrue_is_left_out(tiny_tokenizer: Tokenizer) -> None:
    _, added = extended(
        LINE,
        TEXT,
        is_supported=lambda text: "museum" not in text,
        tokenizer=tiny_tokenizer,
        max_chars=300,
    )
    assert added == ("It is too old", "Buses will cross the new bridge instead")


@pytest.mark.parametrize(
    ("options", "style", "length"),
    [
        ({"fill": "single"}, "", {}),
        ({"profile": "gigaword"}, "", {}),
        ({"method": "pathmap"}, "", {}),
        ({"rerank": None}, "", {}),
        ({"constraints": False}, "", {}),
        ({"banned": ("bus",)}, "", {}),
        ({}, "commit", {}),
        ({}, "title", {}),
        ({}, "", {"prefix": "net: "}),
    ],
)
def test_some_lines_stand_alone(
    options: dict[str, Any], style: str, length: dict[str, Any]
) -> None:
    request = resolve_budget(max_chars=200, **length)
    assert not may_extend(Options(**options), request, style)
    assert may_extend(Options(), resolve_budget(max_chars=200), "news")


def test_a_header_makes_one_statement_and_a_description_more() -> None:
    for name, is_extended in (
        ("slack-header", False),
        ("youtube-title", False),
        ("rss-title", False),
        ("meta-description", True),
    ):
        assert may_extend(Options(), resolve_budget(preset=name), "") == is_extended


def test_numbers_are_those_of_the_line_before(default: Summarizer) -> None:
    n_added = 0
    for text, limit in ((LONG, 250), (TRAM, 160), (BEES, 220)):
        whole, line = default(text, max_chars=limit), default(text, max_chars=limit, fill="single")
        assert line.added == ()
        assert len(line.text) <= len(whole.text) == whole.length <= limit
        for name in ("log_prob", "score", "words", "optimal", "gap", "choice_score"):
            assert getattr(whole, name) == getattr(line, name)
        if whole.added:
            n_added += 1
            assert whole.text.startswith(f"{line.text}; ")
            titled = default(text, max_chars=limit, capitalization="title").text
            assert titled.casefold() == whole.text.casefold()
            assert not re.search(r"\b[a-z]{5,}", titled.replace("while", "").replace("after", ""))
    assert n_added >= 1


def test_a_talk_gets_no_words_of_another_speaker(default: Summarizer) -> None:
    talk = "Anna: The boiler is broken since Monday.\nTom: I will call the plumber tomorrow at 8.\n"
    talk += "Anna: Thank you, the whole house is cold and the children have a cough.\nTom: Sure."
    assert default(talk, max_chars=160).added == ()


_SENTENCES = re.findall(r"[^.]+\.", LONG)


@settings(max_examples=25)
@given(
    order=st.permutations(_SENTENCES),
    limit=st.integers(20, 320),
    unit=st.sampled_from(["chars", "bytes", "graphemes", "cells", "utf16", "tweet", "words"]),
    extra=st.fixed_dictionaries(
        {}, optional={"suffix": st.just(" [more]"), "reserve": st.integers(0, 9)}
    ),
)
def test_no_limit_is_broken(
    default: Summarizer, order: list[str], limit: int, unit: str, extra: dict[str, Any]
) -> None:
    limit = max(10, limit // 6) if unit == "words" else limit
    summary = default(" ".join(order), max_length=limit, unit=unit, on_error="return", **extra)
    if summary.error is None and summary.origin == "model":
        assert summary.length + extra.get("reserve", 0) <= limit
        for fact in summary.added:
            assert fact[1:] in summary.text


@pytest.mark.parametrize(
    "source",
    [
        "The ferry stops. The bank is insolvent. The bank has denied that.",
        'The ferry stops. Ann Lee said: "Posts will go. The mayor has lied to us. All is lost."',
        "The ferry stops. Sign up for our newsletter here. Have a nice weekend.",
        "The ferry stops. Hello to all. The former is cheap. In return, wages rise. Now it is May.",
        "The ferry stops. Les bus passeront toutes les huit minutes.",
        "The ferry stops. Cost: 14 pounds per child. Tom Hale - the mill is ours.",
    ],
)
def test_what_is_false_or_empty_by_itself_does_not_follow(
    tiny_tokenizer: Tokenizer, source: str
) -> None:
    line, added = extended("The ferry stops", source, tokenizer=tiny_tokenizer, max_chars=300)
    assert (line, added) == ("The ferry stops", ())


@pytest.mark.parametrize(
    ("sentence", "begins"),
    [
        ("Buses will cross the bridge.", "; buses will"),
        ("Dr Ono will lead the office.", "; Dr Ono"),
        ("Red Cross staff came by bus.", "; Red Cross"),
        ("I will lead the office.", "; I will"),
        ("In Lisbon a second office opens.", "; in Lisbon"),
        ("Flights went on at 6 a.m.", "; flights went on at 6 a.m."),
    ],
)
def test_capitals_and_stops_stay_where_they_belong(
    tiny_tokenizer: Tokenizer, sentence: str, begins: str
) -> None:
    source = f"The ferry stops. {sentence}"
    text, _ = extended("The ferry stops", source, tokenizer=tiny_tokenizer, max_chars=300)
    assert begins in text


def test_capitals_that_were_asked_for_cost_their_room(default: Summarizer) -> None:
    """A capital may measure more: È is no letter of a short message, and a piece by itself."""
    texts = [
        "The museum in Turin will close for six weeks of repairs in May. è una bella città. L'arte "
        "è viva. Visitors can see the scroll until then.",
        "The insurer has sent two experts to the theatre. Pupils of the upper classes will look "
        "after the hives. Every family gets a letter with the new timetable.",
    ]
    for text in texts:
        for length in ({"preset": "sms"}, {"max_tokens": 28}, {"max_chars": 140}):
            summary = default(text, **length, capitalization="title", keep_short=False)
            assert summary.length <= summary.limit
