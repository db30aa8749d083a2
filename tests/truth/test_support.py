"""What a summary says beyond its source: cases to read, and laws on made-up sentences."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.truth import CHECKS, Support, rank_by_support, support
from tests.strategies import texts

NAMES = ("Olsen", "Varga", "Brightfield", "Northwall", "Kestrel", "Marlow", "Eastgate", "Tanaka")
PEOPLE = ("the mayor", "the council", "a judge", "the drivers' union", "the harbour office")
VERBS = ("support", "repair", "replace", "publish", "repaint", "approve", "visit", "finance")
THINGS = ("the old ferry", "the north bridge", "a new school", "the winter plan", "the report")
PLACES = ("in Odell", "near the station", "on the island", "for two years", "before the storm")
NOT = (
    "did not {}",
    "will not {}",
    "would never {}",
    "cannot {}",
    "refused to {}",
    "declined to {}",
)

plain = st.builds(
    "{} will {} {} {}.".format,
    st.sampled_from(PEOPLE),
    st.sampled_from(VERBS),
    st.sampled_from(THINGS),
    st.sampled_from(PLACES),
)
negated = st.builds(
    lambda who, how, verb, what, where: (
        f"{who} {how.format(verb)} {what} {where}.",
        f"{who} {verb}s {what} {where}",
    ),
    st.sampled_from(PEOPLE),
    st.sampled_from(NOT),
    st.sampled_from(VERBS),
    st.sampled_from(THINGS),
    st.sampled_from(PLACES),
)


def capitalised(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def found(source: str, summary: str) -> list[str]:
    verdict = support(source, summary)
    return [name for name in Support.__dataclass_fields__ if getattr(verdict, name)]


CASES = [
    # numbers
    ("The yard will cut 1,200 jobs.", "Yard cuts 1200 jobs", ""),
    ("The yard will cut 1,200 jobs.", "Yard cuts 1.2 thousand jobs", ""),
    ("The yard will cut twelve hundred jobs.", "Yard cuts 1,200 jobs", ""),
    ("The yard will cut 1,200 jobs.", "Yard cuts 200 jobs", "numbers"),
    ("Three hikers were found alive.", "3 hikers found alive", ""),
    ("Three hikers were found alive.", "Four hikers found alive", "numbers"),
    ("Rents rose five per cent.", "Rents rise 5%", ""),
    ("Rents rose by five crowns.", "Rents rise 5%", "numbers"),
    ("It paid 5 million dollars.", "It pays $5m", ""),
    ("It paid 5 million dollars.", "It pays £5m", "numbers"),
    ("Some 12,000 people fled.", "Thousands flee", ""),
    ("It has 1,203 members.", "Over 1,200 members", ""),
    ("It has 1,203 members.", "1,200 members", "numbers"),
    ("She came third.", "She came 3rd", ""),
    ("They found that one in three left.", "One in three left", ""),
    # names
    ("The minister will call an early vote.", "Macron to call early vote", "names"),
    ("The minister will call an early vote.", "macron to call early vote", "names"),
    ("The minister will call an early vote.", "Early vote: Macron to call it", "names"),
    ("The minister will call an early vote.", "Macron Calls Early Vote", "names"),
    ("The minister will call an early vote.", "Macron's early vote", "names"),
    ("The minister will call an early vote.", "Leader Calls Early Vote", ""),
    ("The carmaker recalls vans.", "Ford recalls vans", "names"),
    ("The search firm will pay.", "Google to pay", "names"),
    ("The library stays open.", "Coronavirus library stays open", "names"),
    ("Germany will host the games.", "German games", ""),
    ("The European Union agreed.", "EU agrees", ""),
    ("The prime minister left.", "PM leaves", ""),
    ("The prime minister left.", "PM Target leaves", "names"),
    # negation
    ("No one was hurt when a crane fell on a school.", "One hurt as crane falls", "lost_negation"),
    ("No one was hurt when a crane fell on a school.", "Crane falls on school", ""),
    ("No one was hurt when a crane fell on a school.", "No one hurt as crane falls", ""),
    ("They found no evidence that the well is polluted.", "Well is polluted", "lost_negation"),
    ("The leak is not fixed in 2.3; a patch follows.", "Fix leak in 2.3", "lost_negation"),
    ("The leak is not fixed in 2.3; a patch follows.", "Patch follows", ""),
    ("Your payment to Skylark was declined.", "Payment to Skylark", "lost_negation"),
    ("Your payment to Skylark was declined.", "Payment to Skylark declined", ""),
    ("Sales declined in spring.", "Spring sales", ""),
    ("The board rejected the sale of Kestrel.", "Kestrel sale", "lost_negation"),
    ("The board rejected the sale of Kestrel.", "Board blocks sale of Kestrel", ""),
    ("A judge threw out the honey suit.", "Judge and the honey suit", "lost_negation"),
    ("The ferry line ruled out cuts to its service.", "Ferry line cuts service", "lost_negation"),
    ("Reports that the mill will close are false.", "Mill to close", "lost_negation"),
    ('Revert "Send the mail twice"', "Send the mail twice", "lost_negation"),
    ("Neither the minister nor her aide will resign.", "Minister to resign", "lost_negation"),
    ("Not only the mill but also the yard will close.", "Mill and yard to close", ""),
    ("The plant is safe, inspectors said.", "Plant not safe", "added_negation"),
    ("The water is unsafe to drink.", "Water safe to drink", "added_negation"),
    # possibility
    ("The firm may recall its vans.", "Firm recalls its vans", "lost_modality"),
    ("The firm may recall its vans.", "Firm could recall its vans", ""),
    ("The firm recalls its vans in May.", "Firm recalls its vans", ""),
    ("Police suspect the fire was set on purpose.", "Fire set on purpose", "lost_modality"),
    ("Crews will strike if talks with the line fail.", "Talks with line fail", "lost_modality"),
    # who did what to whom
    ("United beat City on Sunday.", "City beat United", "swapped_roles"),
    ("United beat City on Sunday.", "City beaten by United", ""),
    ("United beat City on Sunday.", "United beaten by City", "swapped_roles"),
    ("The mayor was sued by the union.", "Mayor sues union", "swapped_roles"),
    ("The mayor was sued by the union.", "Union sues mayor", ""),
    ("Buses are cheaper than trams.", "Trams cheaper than buses", "swapped_roles"),
    ("Sales fell 4 percent.", "Sales rise 4 percent", "turned"),
    # glued
    ("Rain hit the fair. The bakery won a prize.", "Rain bakery wins a prize", "glued"),
]


@pytest.mark.parametrize(("source", "summary", "fault"), CASES)
def test_it_finds_the_fault_and_no_other(source: str, summary: str, fault: str) -> None:
    assert [name for name in found(source, summary) if name != "new_words"] == (
        [fault] if fault else []
    )


def test_new_words_are_reported_but_may_be_right() -> None:
    verdict = support("The bridge will close for repairs.", "Bridge shuts for repair")
    assert verdict.new_words == ("shuts",)
    assert verdict.supported
    assert 0 < verdict.penalty < 1
    assert verdict.reasons == ("word not in the source: shuts",)


def test_spelling_and_number_of_a_word_are_no_news() -> None:
    verdict = support("The labor office closed two centers.", "Labour offices close 2 centres")
    assert verdict == Support()
    assert (verdict.supported, verdict.penalty, verdict.reasons) == (True, 0, ())


def test_the_checks_are_those_that_supported_joins() -> None:
    verdict = support("United may beat City.", "Macron beats City")
    assert tuple(verdict.checks) == CHECKS
    assert verdict.checks["numbers"]
    assert not verdict.checks["names"]
    assert not verdict.supported


def test_candidates_are_ranked_by_what_speaks_against_them() -> None:
    source = "No one was hurt when a crane fell on a school in Odell."
    right, vague, wrong = rank_by_support(
        source, ["Crane falls on school in Odell", "Crane topples in Odell", "Ten hurt in Odell"]
    )
    assert right == 0 < vague < wrong


@given(st.lists(plain, min_size=1, max_size=6), st.data())
def test_a_sentence_of_the_source_is_supported(sentences: list[str], data: st.DataObject) -> None:
    sentences = [capitalised(sentence) for sentence in sentences]
    sentence = data.draw(st.sampled_from(sentences))
    verdict = support(" ".join(sentences), sentence)
    assert verdict.supported, verdict.reasons
    assert verdict.new_words == ()


@given(st.lists(negated, min_size=1, max_size=5), st.lists(plain, max_size=3), st.data())
def test_a_denial_kept_is_supported_among_others(
    pairs: list[tuple[str, str]], others: list[str], data: st.DataObject
) -> None:
    sentences = [capitalised(text) for text in [*(true for true, _ in pairs), *others]]
    verdict = support(" ".join(sentences), data.draw(st.sampled_from(sentences)))
    assert verdict.supported, verdict.reasons


@given(texts(max_fragments=12, untidy=True))
def test_any_text_supports_itself(text: str) -> None:
    verdict = support(text, text)
    assert verdict.supported, verdict.reasons
    assert verdict.new_words == ()


@given(negated)
def test_a_deleted_negation_is_found(pair: tuple[str, str]) -> None:
    source, summary = map(capitalised, pair)
    assert "lost_negation" in found(source, summary)


@given(st.permutations(NAMES), st.sampled_from(("beats", "sues", "buys", "leads")))
def test_swapped_names_are_found(names: list[str], verb: str) -> None:
    one, two, *_ = names
    assert found(f"{one} {verb} {two} on Monday.", f"{two} {verb} {one}") == ["swapped_roles"]
    assert found(f"{one} {verb} {two} on Monday.", f"{one} {verb} {two}") == []


PEOPLE = (
    "John F. Miller met Peter Hansen and Dr. Eva Berg in Oslo. Hansen spoke; Jane Miller did not."
)


@pytest.mark.parametrize(
    ("summary", "mixed"),
    [
        ("Peter Miller meets guests in Oslo", ("Peter Miller",)),
        ("Talks in Oslo: John Hansen speaks, Eva Miller does not", ("John Hansen", "Eva Miller")),
        ("John Miller meets Peter Hansen", ()),
        ("Hansen, Miller meet", ()),
        ("Peter, Miller meet Berg", ()),
        ("Peter's Miller, Hansen-Berg talks", ()),
        ("Oslo Hansen speaks", ()),  # which may be the Hansen from Oslo
    ],
)
def test_a_name_of_two_others_is_none_of_the_source(summary: str, mixed: tuple[str, ...]) -> None:
    assert support(PEOPLE, summary).names == mixed
    assert support(PEOPLE, summary).checks["names"] == (not mixed)


def test_capitals_throughout_are_no_names() -> None:
    assert (
        support("John Miller Met Peter Hansen In Oslo On Monday", "Peter Miller in Oslo").names
        == ()
    )


@given(plain, st.sampled_from(NAMES), st.data())
def test_an_inserted_name_is_found(sentence: str, name: str, data: st.DataObject) -> None:
    words = sentence.rstrip(".").split()
    words.insert(data.draw(st.integers(0, len(words))), name)
    assert support(sentence, " ".join(words)).names == (name,)


@given(plain, st.integers(13, 10**6), st.data())
def test_an_inserted_number_is_found(sentence: str, number: int, data: st.DataObject) -> None:
    words = sentence.rstrip(".").split()
    words.insert(data.draw(st.integers(0, len(words))), f"{number:,}")
    assert support(sentence, " ".join(words)).numbers == (f"{number:,}",)


SHAPES = (
    "not deny may ", "a.a.", "....", "1,", "1,,", "#.,", "'a", "million ", "U.S. ", "about 12 ",
    "He beat her by ", "two hundred and ", "“”", "New Old ", "rule out ", "if ", "-", "é", "日本",
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_time_grows_with_the_length(shape: str) -> None:
    def seconds(n: int) -> float:
        text = shape * (n // len(shape)) + "x"
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            support(text + " ", text)
            best = min(best, time.process_time() - started)
        return best

    assert seconds(160_000) < 8 * seconds(40_000) + 0.05
