"""Which sentence of a short text the default model reads first."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sumfit import Options, Summarizer
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
    (
        "Sleep is short in cities. Little is known of its causes. We show that light at night "
        "delays sleep by 40 minutes in 2,000 adults. More work is needed.",
        "We show that light at night delays sleep",
    ),
]
PLAIN = [
    "The council of Odell will close the old bridge on Monday. Its piers are cracked. Buses will "
    "take another way.",
    "A court in Lund fined the bank 4 million euros on Friday. The bank will appeal. Its shares "
    "fell.",
]


@pytest.fixture(scope="module")
def default() -> Summarizer:
    return Summarizer.from_pretrained()


def read_of(fit: Summarizer, text: str, **options: str) -> str:
    preparer = fit._engine.preparer
    [source] = preparer.in_order([preparer.source(text, Options(**options))])
    assert source.parts is None or options
    return source.read


@pytest.mark.parametrize(("text", "point"), BURIED)
def test_a_point_behind_an_opening_is_read_first(
    default: Summarizer, text: str, point: str
) -> None:
    assert read_of(default, text).startswith(point)


def test_a_text_is_read_in_its_own_order_where_its_beginning_is_asked_for(
    default: Summarizer,
) -> None:
    text, _ = BURIED[0]
    assert read_of(default, text, long="lead") == text


@pytest.mark.parametrize("text", PLAIN)
def test_what_begins_with_its_point_stays(default: Summarizer, text: str) -> None:
    assert read_of(default, text) == text


def test_nothing_of_the_text_is_lost_by_another_order(default: Summarizer) -> None:
    text = BURIED[0][0]
    assert sorted(read_of(default, text).split()) == sorted(text.split())
    summary = default(text, max_chars=60)
    assert (summary.source_selected, summary.source_truncated) == (None, False)
    assert "mill" in summary.text


def test_an_order_does_not_depend_on_the_batch(default: Summarizer) -> None:
    texts = [text for text, _ in BURIED] + PLAIN
    together = default(texts, max_chars=60)
    assert [one.text for one in together] == [default(text, max_chars=60).text for text in texts]


def test_the_torch_backend_reads_the_same_sentence_first(default: Summarizer) -> None:
    pytest.importorskip("torch", reason="needs sumfit[train]")
    other = Summarizer.from_pretrained(backend="torch", device="cpu")
    texts = [text for text, _ in BURIED]
    preparers = default._engine.preparer, other._engine.preparer
    read = [
        [one.read for one in each.in_order([each.source(text, Options()) for text in texts])]
        for each in preparers
    ]
    assert read[0] == read[1]


def test_a_model_that_cannot_tell_reads_a_text_as_it_is(tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(default_model_path(), model, ignore=shutil.ignore_patterns("manifest.json"))
    (model / SALIENCE_FILE).unlink()
    fit = Summarizer.from_pretrained(model)
    text = BURIED[0][0]
    assert fit.graph(text) is not None
    preparer = fit._engine.preparer
    [source] = preparer.in_order([preparer.source(text, Options())])
    assert source.read == text
