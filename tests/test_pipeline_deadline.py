"""One deadline for all the work on one summary. No test looks at a real clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sumfit import Options, Summarizer
from sumfit.deadline import Deadline
from sumfit.decoding import search as seqmap_search
from sumfit.errors import NothingFoundError, TimeLimitError
from sumfit.hypothesis import Hypothesis, NBest
from sumfit.pipeline import faithfulness, search
from sumfit.pipeline.job import Job
from sumfit.truth import Support
from tests.clocks import Clock


@pytest.fixture
def clock(fit: Summarizer, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(fit._engine, "_clock", clock)
    return clock


class Decoding:
    """Calls of the decoder: how many, what they found, and seconds that each takes."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.found: list[NBest] = []
        self._clock, self._seconds, self._decode = clock, seconds, search.decode

    def __call__(self, *arguments: Any, **settings: Any) -> NBest:
        self.found.append(self._decode(*arguments, **settings))
        self._clock.now += self._seconds
        return self.found[-1]


def decoding(patch: pytest.MonkeyPatch, clock: Clock, seconds: float) -> Decoding:
    calls = Decoding(clock, seconds)
    patch.setattr(search, "decode", calls)
    return calls


def test_a_text_that_takes_its_time_to_read_is_an_error_or_cut(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock
) -> None:
    clock.step = 1.0
    message = "the time limit of 0.9 s ran out while reading the text; give a shorter text or"
    with pytest.raises(TimeLimitError, match=message):
        fit(texts[0], max_chars=30, time_limit_s=0.9)
    cut = fit(texts[0], max_chars=30, time_limit_s=0.9, on_infeasible="cut")
    assert (cut.origin, cut.text[-1]) == ("cut", "…")
    kept = fit(texts[0], max_chars=len(texts[0]), time_limit_s=0.9)
    assert kept.origin == "source"


def test_a_little_late_is_enough_for_a_quick_search(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = fit(texts[0], max_chars=40)
    assert not best.unfinished
    monkeypatch.setattr(seqmap_search, "_SLICE", 1)
    clock.step = 0.02
    summary = fit(texts[0], max_chars=40, time_limit_s=0.01)
    assert summary.origin == "model"
    assert summary.complete
    assert summary.unfinished
    assert summary.gap >= best.score - summary.score


def test_without_a_limit_no_one_looks_at_the_clock(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock
) -> None:
    assert not fit(texts[0], max_chars=40, n_best=3, faithful=True).unfinished
    assert clock.looks == 0


def test_each_text_of_a_batch_has_its_own_time(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoding(monkeypatch, clock, 900.0)
    jobs = [Job(texts[i % len(texts)], [{"max_chars": 40}]) for i in range(6)]
    found = fit._engine.run(jobs, Options(time_limit_s=1000.0))
    assert [summary.origin for (summary,) in found] == ["model"] * 6
    assert not any(summary.unfinished for (summary,) in found)


def test_longer_lists_end_with_the_time(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fit(texts[0], max_chars=40, n_best=6)
    monkeypatch.setattr(fit._engine, "_clock", clock)
    text = whole.alternatives[-1].text if whole.alternatives else whole.text
    verified = search.GraphSearch.verified

    def few(*arguments: Any, **settings: Any) -> Any:
        kept, excess = verified(*arguments, **settings)
        return [one for one in kept if one.text != text][:1], excess

    monkeypatch.setattr(search.GraphSearch, "verified", few)
    calls = decoding(monkeypatch, clock, 2000.0)
    summary = fit(texts[0], max_chars=40, n_best=6, time_limit_s=1000.0)
    assert len(calls.found) == 1
    assert summary.unfinished
    calls.found.clear()
    assert not fit(texts[0], max_chars=40, n_best=6).unfinished
    assert len(calls.found) > 1


@pytest.mark.parametrize("most", [1, 40, 500])
@pytest.mark.parametrize(
    "keywords",
    [
        {"n_best": 20, "faithful": True},
        {"rerank": "mbr", "n_best": 30},
        {"n_best": 5, "method": "pathmap", "bonus": 10.0},
        {"required": ["zebra"]},
    ],
)
def test_all_lists_share_the_expansions(
    fit: Summarizer,
    texts: tuple[str, ...],
    keywords: dict[str, Any],
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = decoding(monkeypatch, Clock(), 0.0)
    summary = fit(texts[0], max_chars=40, max_expansions=most, on_error="return", **keywords)
    lists = calls.found
    assert sum(found.n_expanded for found in lists) <= most + 450 * len(lists)
    assert len(lists) <= 4
    if len(lists) > 1 or (lists and not lists[0].is_complete):
        assert summary.unfinished or summary.error or lists[-1].is_complete


class Slow:
    """A reranker that reads strings."""

    name = "slow"
    n_candidates = 5

    def __init__(self) -> None:
        self.n_calls = 0

    def rerank(
        self, source: str, texts: Sequence[str], nbest: Sequence[Hypothesis]
    ) -> tuple[int, ...]:
        self.n_calls += 1
        return tuple(reversed(range(len(texts))))


def test_reranking_is_left_out_once_the_time_is_over(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    other = fit(texts[0], max_chars=40, rerank=slow, time_limit_s=1000.0)
    assert (slow.n_calls, other.unfinished) == (1, False)
    decoding(monkeypatch, clock, 2000.0)
    summary = fit(texts[0], max_chars=40, rerank=slow, time_limit_s=1000.0)
    assert (slow.n_calls, summary.unfinished) == (1, True)
    assert summary.rank == 0


def test_the_filter_looks_at_no_more_candidates_once_the_time_is_over() -> None:
    clock, seen = Clock(), []
    deadline = Deadline(1.0, clock=clock)

    def verdict(text: str) -> Support:
        seen.append(text)
        clock.now += 0.6
        return Support(names=("Nobody",))

    candidates = [
        search.Candidate(text, Hypothesis((1,), -1.0, -1.0, 1), rank)
        for rank, text in enumerate("abcd")
    ]
    assert faithfulness.faithful_first(candidates, verdict, deadline) == candidates
    assert seen == ["a", "b"]
    assert deadline.was_felt


def test_many_limits_of_one_text_end_with_the_time(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seqmap_search, "_SLICE", 1)
    clock.step = 0.02
    limits = [20, 25, 30, 35, 40]
    found = fit(texts[0], max_chars=limits, time_limit_s=0.01, on_error="return")
    for limit, summary in zip(limits, found, strict=True):
        assert summary.error is not None or 0 < summary.length <= limit
    assert any(summary.unfinished for summary in found)


@pytest.mark.parametrize("method", ["seqmap", "pathmap", "seqmap-beam"])
def test_methods_that_search_end_with_the_time(
    fit: Summarizer, texts: tuple[str, ...], method: str, clock: Clock
) -> None:
    clock.step = 0.02
    summary = fit(
        texts[0], max_chars=40, method=method, n_best=5, time_limit_s=0.01, on_error="return"
    )
    assert isinstance(summary.error, NothingFoundError | None)
    assert (summary.error is None) == (0 < summary.length <= 40)
