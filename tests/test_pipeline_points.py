"""Which sentence of a short text holds its point, and when a text is read a second time."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from sumfit import Options, Summarizer
from sumfit.pipeline.job import Job
from sumfit.runtime import default_model_path
from sumfit.text.salience import SALIENCE_FILE

BURIED = [
    (
        "Ten of us met at the mill. Tea was served. Jo read the letter from the bank aloud. The "
        "club will buy the mill for 40,000 pounds if the bank agrees by Friday. Ana brought cake.",
        "The club will buy the mill",
    ),
    (
        "It was a long evening. Tea was served. The council decided to close the pool on Mill Lane "
        "from 1 May because the roof leaks. Bo brought cake.",
        "The council decided to close the pool",
    ),
    (
        "First post here. My boiler is three years old, but the pilot light dies every night. "
        "I cleaned the jet. Has anyone had this?",
        "My boiler is three years old, but the pilot light dies",
    ),
    (
        "Ina: hi all.\nTom: anyone there?\nIna: the meeting moves to Friday at 10.\nTom: ok",
        "The meeting moves to Friday at 10.",
    ),
]
ABSTRACT = (
    "Sleep is short in cities. Little is known of its causes. We show that light at night delays "
    "sleep by 40 minutes in 2,000 adults. We propose a method that predicts it from maps."
)
HELD = "The club will buy"
DOUBTFUL = BURIED[0][0]
PLAIN = [
    "The council of Odell will close the old bridge on Monday. Its piers are cracked. Buses will "
    "take another way.",
    "A court in Lund fined the bank 4 million euros on Friday. The bank will appeal. Its shares "
    "fell.",
]


@pytest.fixture(scope="module")
def default() -> Summarizer:
    return Summarizer.from_pretrained()


def points_of(fit: Summarizer, text: str, **options: str) -> tuple[Sequence[str], int | None]:
    """The sentences of a text, and the place of the one that holds its point."""
    engine = fit._engine
    chosen = Options(**options)
    [request] = engine.preparer.requests(Job(text, [{"max_chars": 50}]), chosen)
    [(request, _)] = engine._read([request], chosen)
    source, predicted = request.text.source, request.predicted
    assert source is not None
    assert predicted is not None
    sentences = () if source.parts is None else source.parts.sentences
    return sentences, None if predicted.read.points is None else predicted.read.points.best


@pytest.mark.parametrize(("text", "point"), BURIED)
def test_a_point_behind_an_opening_is_found(default: Summarizer, text: str, point: str) -> None:
    sentences, best = points_of(default, text)
    assert best is not None
    assert point in sentences[best][0].upper() + sentences[best][1:]


@pytest.mark.parametrize("text", PLAIN)
def test_what_begins_with_its_point_is_read_once(default: Summarizer, text: str) -> None:
    assert points_of(default, text)[1] == 0
    inspected = default.inspect(text, max_chars=50)
    assert inspected.n_source == len(default.tokenizer.encode(text))


def test_an_abstract_is_read_once_though_its_point_comes_late(default: Summarizer) -> None:
    engine, options = default._engine, Options()
    [request] = engine.preparer.requests(Job(ABSTRACT, [{"max_chars": 60}]), options)
    [(request, line)] = engine._read([request], options)
    assert request.predicted is not None
    points = request.predicted.read.points
    assert points is not None
    assert points.is_kept
    assert points.best > 0
    assert engine._second(request, line) is None


@pytest.mark.parametrize(
    "options", [{"long": "lead"}, {"profile": "gigaword"}], ids=["lead", "gigaword"]
)
def test_points_are_not_asked_for_where_a_text_is_read_as_it_is(
    default: Summarizer, options: dict[str, str]
) -> None:
    assert points_of(default, BURIED[0][0], **options)[1] is None


def test_a_doubtful_line_is_made_once_more_with_the_point_first(default: Summarizer) -> None:
    engine, options = default._engine, Options()
    [request] = engine.preparer.requests(Job(DOUBTFUL, [{"max_chars": 50}]), options)
    [(first, line)] = engine._read([request], options)
    again = engine._second(first, line)
    assert again is not None
    assert again.text.source is not None
    assert again.text.source.read.startswith(HELD)
    assert sorted(again.text.source.read.split()) == sorted(DOUBTFUL.split())
    [(_, other)] = engine._read([again], options)
    assert line.confidence is not None
    assert other.confidence is not None
    summary = default(DOUBTFUL, max_chars=50)
    is_better = other.confidence - line.confidence > 0.1
    assert summary.text == (other if is_better else line).text
    assert summary.timings["forward"] > 0
    assert "club" in summary.text.lower()


def test_a_second_reading_needs_time_and_expansions_that_are_left(default: Summarizer) -> None:
    engine, options = default._engine, Options(max_expansions=1)
    [request] = engine.preparer.requests(Job(DOUBTFUL, [{"max_chars": 50}]), options)
    [(first, line)] = engine._read([request], options)
    assert first.deadline.is_spent
    assert engine._second(first, line) is None


def test_the_reading_that_was_taken_is_inspected(default: Summarizer) -> None:
    inspected = default.inspect(DOUBTFUL, max_chars=50)
    assert inspected.summary.text == default(DOUBTFUL, max_chars=50).text
    assert inspected.summary.log_prob == pytest.approx(
        default(DOUBTFUL, max_chars=50).log_prob, abs=1e-5
    )


def test_readings_do_not_depend_on_the_batch(default: Summarizer) -> None:
    texts = [text for text, _ in BURIED] + PLAIN
    together = default(texts, max_chars=50)
    alone = [default(text, max_chars=50) for text in texts]
    assert [one.text for one in together] == [one.text for one in alone]
    assert [one.confidence for one in together] == [one.confidence for one in alone]


def test_a_model_that_cannot_tell_reads_a_text_once(tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(default_model_path(), model, ignore=shutil.ignore_patterns("manifest.json"))
    (model / SALIENCE_FILE).unlink()
    fit = Summarizer.from_pretrained(model)
    assert points_of(fit, BURIED[0][0])[1] is None
    assert fit(BURIED[0][0], max_chars=50).text
