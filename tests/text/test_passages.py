"""Which sentences of a long text are read."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.text.passages import select, sentences_of

ARTICLE = Path(__file__).parents[2] / "examples" / "texts" / "25-long-2000-words.txt"


def n_words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rained. It snowed! Did it?", ["It rained.", "It snowed!", "Did it?"]),
        (
            "Mr. Lee met Dr. Ode in the U.S. on Jan. 5. He left.",
            ["Mr. Lee met Dr. Ode in the U.S. on Jan. 5.", "He left."],
        ),
        ("It rose 2.5% to e.g. 10 points.", ["It rose 2.5% to e.g. 10 points."]),
        ("It was\nwet. It\nrained", ["It was wet.", "It rained"]),
        ("A heading\n\nIt rained.", ["A heading", "It rained."]),
        ("“It rained.” She left.", ["“It rained.”", "She left."]),
        ("雨が降った。雪も降った。", ["雨が降った。", "雪も降った。"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


def test_speech_without_marks_is_cut() -> None:
    pieces = sentences_of("word " * 150)
    assert [n_words(piece) for piece in pieces] == [60, 60, 30]


@given(st.text("aB c.!?\n,'\"“”…é1", max_size=200))
def test_sentences_hold_every_word_in_order(text: str) -> None:
    assert " ".join(sentences_of(text)).split() == text.split()


SENTENCES = st.sampled_from(
    [
        "The bridge will close on Monday.",
        "Repairs of the bridge take six weeks.",
        "Hello, welcome.",
        "Is it raining?",
        "x = f(a[1], b[2]);",
        "Boats may still pass below the bridge by night.",
        "We decided to keep the ferry.",
    ]
)


@given(
    st.lists(SENTENCES, min_size=1, max_size=30),
    st.integers(0, 60),
    st.sampled_from(["article", "thread", "talk"]),
)
def test_what_is_selected_fits_and_keeps_its_order(texts: list[str], most: int, form: str) -> None:
    text = " ".join(texts)
    found = select(text, n_words, most=most, form=form)  # type: ignore[arg-type]
    assert n_words(found.text) <= most
    assert found.of_sentences == len(sentences_of(text))
    chosen = sentences_of(found.text)
    assert len(chosen) == found.n_sentences
    turns = range(len(chosen) or 1)  # what stands before the main sentence comes last
    assert any(
        _is_in_order(chosen[turn:], text) and _is_in_order(chosen[:turn], text) for turn in turns
    )
    if most >= max(map(n_words, sentences_of(text))):
        assert found.n_sentences


def _is_in_order(sentences: list[str], text: str) -> bool:
    rest = iter(sentences_of(text))
    return all(sentence in rest for sentence in sentences)


NEWS = (
    "On Thursday night the city council voted 14 to 11 to close six of the nine branch libraries."
)
SCENE = (
    "Every Tuesday morning Margit Olsen pushes her walker up the ramp. She hangs her coat on the "
    "hook and takes the chair by the radiator. The librarian puts the crossword aside for her. "
)
AFTER = (
    " The council says that the libraries cost too much. Critics say that six districts lose "
    "their last warm room. Mrs Olsen says that she will miss her chair."
)


def test_an_article_that_begins_with_a_scene_is_read_from_its_news_on() -> None:
    found = select(SCENE + "None of them knew. " + NEWS + AFTER, n_words, most=50)
    assert found.text.startswith(NEWS)


def test_an_article_that_begins_with_its_news_is_read_from_there() -> None:
    found = select(NEWS + " " + SCENE + AFTER, n_words, most=50)
    assert found.text.startswith(NEWS)


def test_a_manual_is_read_from_its_beginning() -> None:
    text = "A fast parser. It reads files of any size. " + "It must read each line once. " * 30
    text += NEWS
    assert select(text, n_words, most=50).text.startswith("It reads files of any size.")


def test_the_decision_of_a_talk_comes_first() -> None:
    text = (
        "The ferry needs a new engine for the summer, and engines are dear this year. "
        "The yard asks 40,000 euros for an engine and six weeks of time. "
        "So we have decided to buy the engine in March and to close the ferry until May."
    )
    found = select(text, n_words, most=40, form="talk")
    assert found.text.startswith("So we have decided to buy the engine")
    assert found.n_sentences == 2


def test_an_article_is_read_from_its_beginning_and_beyond() -> None:
    text = ARTICLE.read_text(encoding="utf-8")
    found = select(text, n_words, most=140)
    sentences = sentences_of(text)
    assert found.text.startswith(sentences[0])
    assert sentences.index(sentences_of(found.text)[-1]) > 5
    assert found.of_sentences == len(sentences) > 80


def test_small_talk_and_repeats_are_left_out() -> None:
    text = (
        "Hello everyone, welcome to the show. Can you hear me? "
        + "The ferry stops in May because its engine is broken. " * 5
        + "Thanks to all. The engine of the ferry is sixty years old."
    )
    found = select(text, n_words, most=19, form="talk")
    assert found.text == (
        "The ferry stops in May because its engine is broken. "
        "The engine of the ferry is sixty years old."
    )


def test_the_last_message_of_a_thread_counts_most() -> None:
    text = "\n\n".join(f"Offer {number} for the roof is too high." for number in range(50))
    text += "\n\nWe agreed on an offer for the roof with Lee."
    assert "Lee" in select(text, n_words, most=12, form="thread").text


def test_time_grows_in_step_with_the_text() -> None:
    def seconds(n_sentences: int) -> float:
        text = " ".join(
            f"Word{number} meets word{number % 97} in town{number % 7}."
            for number in range(n_sentences)
        )
        took = []
        for _ in range(3):  # the machine may be busy
            started = time.perf_counter()
            select(text, n_words, most=140)
            took.append(time.perf_counter() - started)
        return min(took)

    seconds(100)
    assert seconds(8000) < 40 * max(seconds(1000), 0.005)  # quadratic time is 64 times


def test_a_number_stays_with_its_abbreviation() -> None:
    text = "The old tram no. 7 is rolling. We live at no. We saw pp. 3 to 5 on Sunday."
    assert sentences_of(text) == [
        "The old tram no. 7 is rolling.",
        "We live at no.",
        "We saw pp. 3 to 5 on Sunday.",
    ]
