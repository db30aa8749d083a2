"""A summarizer where people work: columns of data frames, event loops, notebooks."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import pickle
import threading
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit import Summarizer, Summary
from sumfit.errors import InputError
from sumfit.notebook import Arc, Dot, graph
from tests.tiny_model import TEXTS


class Page(HTMLParser):
    """Text of a page, and whether every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        assert self.open == []
        return " ".join(self.words)


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy"])
def test_a_column_is_a_list_of_texts(fit: Summarizer, library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    column = (
        module.array(TEXTS) if library == "numpy" else module.DataFrame({"body": TEXTS})["body"]
    )
    expected = [fit(text, max_chars=40).text for text in TEXTS]
    found = fit(column, max_chars=40)
    assert [one.text for one in found] == expected
    assert [one.text for one in fit.stream(column, max_chars=40)] == expected
    own = [30, 35, 40, 45, 50, 55]
    assert [one.limit for one in fit(column, max_chars=own)] == own


def test_a_data_set_is_mapped(fit: Summarizer) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    texts = datasets.Dataset.from_dict({"text": list(TEXTS)})

    def titles(batch: dict[str, list[str]]) -> dict[str, list[str]]:
        return {"title": [one.text for one in fit(batch["text"], max_chars=60)]}

    mapped = texts.map(titles, batched=True, batch_size=2, load_from_cache_file=False)
    assert mapped["title"][:] == [one.text for one in fit(list(TEXTS), max_chars=60)]
    assert [one.text for one in fit(texts["text"], max_chars=60)] == mapped["title"][:]


@given(st.text(max_size=20), st.booleans(), st.floats(0, 1))
def test_no_label_of_a_graph_becomes_markup(label: str, is_chosen: bool, prob: float) -> None:
    def tags(label: str) -> list[str]:
        dots = [Dot(0, "start", True), Dot(3, label, is_chosen), Dot(9, "end", True)]
        arcs = [Arc(0, 3, prob, is_chosen), Arc(3, 9, 1.0, is_chosen), Arc(3, 7, 0.5, False)]
        page = Page(graph(dots, arcs))
        assert page.open == []
        return page.tags

    assert tags(label) == tags("word") == [*["div", "svg"], *2 * ["path"], *3 * ["circle", "text"]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_itself_and_its_gaps_are_told(fit: Summarizer, library: str) -> None:
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    frame = module.DataFrame({"body": [TEXTS[0], None]})
    with pytest.raises(InputError, match="give one of its columns"):
        fit(frame, max_chars=40)
    good, gap = fit(frame["body"], max_chars=40)
    assert good.text == fit(TEXTS[0], max_chars=40).text
    assert isinstance(gap.error, InputError)


def test_an_event_loop_goes_on_meanwhile(fit: Summarizer) -> None:
    async def scenario() -> tuple[Any, ...]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        clock = asyncio.create_task(tick())
        one, many, several = await asyncio.gather(
            fit.acall(TEXTS[0], max_chars=40),
            fit.acall(list(TEXTS), max_words=5),
            fit.acall(TEXTS[0], max_chars=[30, 40]),
        )
        clock.cancel()
        return one, many, several, ticks

    one, many, several, ticks = asyncio.run(scenario())
    assert one == fit(TEXTS[0], max_chars=40)
    assert many == fit(list(TEXTS), max_words=5)
    assert several == fit(TEXTS[0], max_chars=[30, 40])
    assert ticks > 1


def test_an_event_loop_gets_errors_and_no_streams(fit: Summarizer) -> None:
    with pytest.raises(InputError, match="was a stream; use astream for it"):
        asyncio.run(fit.acall(iter(TEXTS), max_chars=40))  # type: ignore[arg-type]
    with pytest.raises(InputError):
        asyncio.run(fit.acall("", max_chars=40))


class Patient:
    """Stands for a summarizer: works until it is told that nobody waits."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.has_ended = threading.Event()

    def __call__(self, texts: Any, /, *, is_cancelled: Any, **_: Any) -> None:
        self.has_begun.set()
        deadline = time.monotonic() + 60
        while not is_cancelled():
            assert time.monotonic() < deadline
            time.sleep(0.001)
        self.has_ended.set()

    def stream(self, texts: Any, /, **keywords: Any) -> Iterator[str]:
        for text in texts:
            yield text
            self([text], **keywords)


def test_cancelling_a_call_ends_its_work() -> None:
    async def scenario(patient: Patient) -> None:
        call: Any = Summarizer.acall(patient, TEXTS[0], max_chars=40)  # type: ignore[arg-type]
        task = asyncio.create_task(call)
        while not patient.has_begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(patient.has_ended.wait, 60)

    asyncio.run(scenario(Patient()))


def test_leaving_a_stream_ends_its_work() -> None:
    async def scenario(patient: Patient) -> None:
        stream: Any = Summarizer.astream(patient, TEXTS, max_chars=40)  # type: ignore[arg-type]
        assert await anext(stream) == TEXTS[0]
        second = asyncio.create_task(anext(stream))
        while not patient.has_begun.is_set():
            await asyncio.sleep(0.001)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert await asyncio.to_thread(patient.has_ended.wait, 60)

    asyncio.run(scenario(Patient()))


def test_a_stream_of_an_event_loop_is_the_stream(fit: Summarizer) -> None:
    wanted = [one.text for one in fit.stream(TEXTS, max_chars=40)]

    async def scenario() -> list[str]:
        asked = []
        found = fit.astream(
            iter(TEXTS),
            max_chars=40,
            is_cancelled=lambda: bool(asked.append(1)),  # type: ignore[func-returns-value]
        )
        texts = [one.text async for one in found]
        assert asked  # a hook of the user's own is heard as well
        return texts

    assert asyncio.run(scenario()) == wanted
    with pytest.raises(InputError, match="stream takes many texts"):
        asyncio.run(anext(fit.astream(TEXTS[0], max_chars=40)))  # type: ignore[arg-type]


def test_a_notebook_shows_text_limit_and_alternatives(fit: Summarizer) -> None:
    summary = fit(TEXTS[0], max_chars=40, n_best=3)
    page = Page(summary._repr_html_())
    assert summary.text in page.text
    assert f"{summary.length} of 40 chars" in page.text
    assert all(one.text in page.text for one in summary.alternatives)
    found = fit.inspect(TEXTS[0], max_chars=40)
    page = Page(found._repr_html_())
    assert found.summary.text in page.text
    assert page.tags.count("tr") == 1 + len(found.path)
    assert page.tags.count("svg") == 2  # the limit, and the graph
    assert page.tags.count("circle") >= 2 + len(found.path)
    assert page.tags.count("path") >= 1 + len(found.path)
    assert {"start", "end"} <= set(page.words)
    assert repr(fit) == "Summarizer(model='tiny-copy', backend='onnx-fp32')"
    assert repr(found).startswith(f"Inspection({found.summary.text!r}, ")
    assert "\n" not in repr(found)
    assert repr(found.dag) == (
        f"DAG({found.dag.n_vertices} vertices, {found.dag.n_candidates:,} of "
        f"{found.dag.vocab_size:,} words)"
    )


@pytest.mark.parametrize(
    "keywords",
    [
        {"max_chars": 40},
        {"max_words": 5, "rerank": None, "time_limit_s": 60.0, "is_cancelled": lambda: False},
        {"max_chars": 60, "prefix": "News: ", "n_best": 3},
        {"max_length": 30, "unit": lambda text: len(text)},
    ],
)
def test_a_notebook_draws_the_graph_of_a_summary(fit: Summarizer, keywords: Any) -> None:
    summary = fit(TEXTS[0], **keywords)
    assert summary.origin == "model"
    found = fit.inspect(TEXTS[0], **keywords)
    assert found.path
    assert summary._repr_html_() == summary.html() + found.graph_html()
    assert Page(summary._repr_html_()).tags.count("svg") == 2  # the limit, and the graph


def test_each_of_several_limits_has_its_own_graph(fit: Summarizer) -> None:
    for summary in fit(TEXTS[0], max_chars=[30, 60]):
        found = fit.inspect(TEXTS[0], max_chars=summary.limit)
        assert summary._repr_html_() == summary.html() + found.graph_html() != summary.html()


def test_a_graph_is_predicted_only_when_a_notebook_asks(
    fit: Summarizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    predictions = fit.backend.predictions

    def counted(graphs: Any) -> Any:
        asked.append(len(graphs))
        return predictions(graphs)

    monkeypatch.setattr(fit.backend, "predictions", counted)
    summary = fit(TEXTS[0], max_chars=40)
    assert repr(summary)
    assert asked == [1]
    assert summary._repr_html_() != summary.html()
    assert asked == [1, 1]
    copies = [
        pickle.loads(pickle.dumps(summary)),
        copy.copy(summary),
        copy.deepcopy(summary),
        dataclasses.replace(summary),
    ]
    for other in copies:
        assert (other, repr(other), hash(other)) == (summary, repr(summary), hash(summary))
    of_many = [*fit([TEXTS[0]], max_chars=40), *fit.stream([TEXTS[0]], max_chars=40)]
    asked.clear()
    for other in [*copies, *of_many]:
        assert other == summary
        assert other._repr_html_() == other.html()
    assert fit("Short.", max_chars=40)._repr_html_().count("<svg") == 1
    assert asked == []
    assert not any("picture" in field.name for field in dataclasses.fields(summary))
    assert "picture" not in str(dataclasses.asdict(summary))


def test_old_summaries_and_those_of_a_lost_summarizer_are_shown_without_graph(
    tiny_model: Path,
) -> None:
    fit = Summarizer.from_pretrained(tiny_model, n_workers=1)
    summaries = [fit(TEXTS[0], max_chars=limit) for limit in range(40, 50)]
    drawn = [one._repr_html_() != one.html() for one in summaries]
    assert drawn == [False, False, *8 * [True]]
    del fit  # at once: nothing that it is made of refers to it
    assert [one._repr_html_() for one in summaries] == [one.html() for one in summaries]


def test_a_unit_that_fails_by_now_leaves_the_graph_out(fit: Summarizer) -> None:
    has_failed = False

    def unit(text: str) -> int:
        if has_failed:
            raise ValueError("no")
        return len(text)

    summary = fit(TEXTS[0], max_length=40, unit=unit)
    assert summary._repr_html_() != summary.html()
    has_failed = True
    assert summary._repr_html_() == summary.html()


def test_a_notebook_shows_why_there_is_no_summary(fit: Summarizer) -> None:
    (failed,) = fit([""], max_chars=40)
    assert str(failed.error) in Page(failed._repr_html_()).text
    assert "the text as it is" in Page(fit("Short.", max_chars=40)._repr_html_()).text


@given(st.text(max_size=40), st.integers(0, 200), st.integers(0, 200))
def test_no_text_becomes_markup(text: str, length: int, limit: int) -> None:
    plain = Page(Summary("x", 1, "chars", 1, origin="source")._repr_html_())
    page = Page(Summary(text, length, "<b>", limit, origin="source")._repr_html_())
    assert page.tags == plain.tags
    assert page.open == []
