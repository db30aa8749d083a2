"""One deadline for all the work on one summary. No test looks at a real clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sumfit import Options, Summarizer, parts
from sumfit.deadline import Deadline
from sumfit.errors import ConfigError, NothingFoundError, TimeLimitError
from sumfit.hypothesis import Hypothesis, NBest
from sumfit.length import units
from sumfit.pipeline import faithfulness, listing, preparing, results, search
from sumfit.pipeline.job import Job
from sumfit.text import normalise
from sumfit.truth import Support
from tests.clocks import Clock
from tests.tuned import tune


@pytest.fixture
def clock(fit: Summarizer, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(fit._engine, "_clock", clock)
    return clock


class Decoding:
    """Calls of the decoder: how many, what they found, and seconds that each takes."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.found: list[NBest] = []
        self._clock, self._seconds, self._decode = clock, seconds, listing.decode

    def __call__(self, *arguments: Any, **settings: Any) -> NBest:
        self.found.append(self._decode(*arguments, **settings))
        self._clock.now += self._seconds
        return self.found[-1]


def decoding(patch: pytest.MonkeyPatch, clock: Clock, seconds: float) -> Decoding:
    calls = Decoding(clock, seconds)
    patch.setattr(listing, "decode", calls)
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
    tune(monkeypatch, steps_between_looks=1)
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
    tune(monkeypatch, steps_between_looks=1)
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


@pytest.mark.parametrize(
    "keywords",
    [
        {"method": "sample", "constraints": False, "near_doubles": True},
        {"method": "diverse", "constraints": False},
        {"rerank": "mbr"},
        {"rerank": None, "faithful": True},
        {},
    ],
)
def test_long_lists_are_read_and_wrapped_up_in_time(
    fit: Summarizer, texts: tuple[str, ...], keywords: dict[str, Any], clock: Clock
) -> None:
    clock.step = 0.001
    for limit_s in (0.01, 0.05, 0.3):
        begun = clock.now
        summary = fit(texts[0], max_chars=40, n_best=1000, time_limit_s=limit_s, **keywords)
        assert clock.now - begun < limit_s + 0.055
        assert summary.unfinished or limit_s > 0.1
        assert 0 < summary.length <= 40


def test_the_verdicts_on_alternatives_end_with_the_time(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    keywords: dict[str, Any] = {"method": "sample", "constraints": False, "near_doubles": True}
    keywords |= {"max_chars": 40, "n_best": 30, "time_limit_s": 1000.0, "seed": 3}
    whole = fit(texts[0], **keywords)
    assert len(whole.alternatives) > 5

    def judge(text: str, source: object, **_: object) -> Support:
        clock.now += 400.0
        return Support()

    monkeypatch.setattr(results, "support_of", judge)
    some = fit(texts[0], **keywords)
    assert [one.text for one in some.alternatives] == [
        one.text for one in whole.alternatives[: len(some.alternatives)]
    ]
    assert len(some.alternatives) == 2
    assert all(one.unfinished for one in (some, *some.alternatives))


@pytest.mark.parametrize("length", [{"ratio": 0.001, "unit": "tokens"}, {"max_tokens": 10**6}])
def test_a_whole_text_is_measured_in_tokens_in_time(
    fit: Summarizer, texts: tuple[str, ...], length: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(fit._engine, "_clock", clock)
    encode_parts, read = fit.tokenizer.encode_parts, []

    def slow(text: str) -> Any:
        for part in encode_parts(text):
            if len(part) > 2500:  # not one of the sentences that are chosen from
                clock.now += 0.1
                read.append(part)
            yield part

    monkeypatch.setattr(fit.tokenizer, "encode_parts", slow)
    long = " ".join(texts) * (1_500_000 // len(" ".join(texts)))
    with pytest.raises(TimeLimitError, match="ran out while reading the text"):
        fit(long, time_limit_s=3.0, **length)
    assert clock.now <= 4.0
    assert 20 < len(read) < 40


@pytest.mark.parametrize(
    ("limit_s", "n_read"), [(None, 200_000), (3.0, 200_000), (0.25, 100_000), (0.001, 20_000)]
)
@pytest.mark.parametrize("mark", ["", "*new* "])
def test_of_a_long_text_less_is_looked_at_where_there_is_little_time(
    fit: Summarizer,
    texts: tuple[str, ...],
    mark: str,
    limit_s: float | None,
    n_read: int,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cleaned, seen = preparing.clean, []

    def clean(text: str, *arguments: Any, **settings: Any) -> Any:
        seen.append(len(text))
        return cleaned(text, *arguments, **settings)

    monkeypatch.setattr(preparing, "clean", clean)
    long = f"{mark}{' '.join(texts)} " * (2_000_000 // len(" ".join(texts)))
    summary = fit(long, max_chars=40, time_limit_s=limit_s)
    assert seen == [n_read]
    assert 0 < summary.length <= 40
    assert summary.source_truncated
    assert summary.source_selected is not None
    assert summary.source_selected.of_chars <= n_read


def test_more_of_a_page_is_cleaned_until_enough_is_left_of_it(fit: Summarizer) -> None:
    script = "<script>" + "x = 1;" * 50_000 + "</script>"
    prose = "<p>The council closes the old bridge on Monday.</p>\n" * 12_000
    page = f"<html><body><p>It rained all day.</p>{script}{prose}</body></html>"
    summary = fit(page, max_chars=40, input_kind="html")
    assert "x = 1" not in summary.text
    assert summary.cleaned == ("html",)
    assert summary.source_selected is not None
    assert summary.source_selected.of_sentences > 2000


@pytest.mark.parametrize(("limit_s", "n_chars"), [(None, 400_000), (1.0, 400_000), (0.1, 0)])
def test_a_whole_text_is_judged_where_there_is_time_for_it(
    fit: Summarizer,
    texts: tuple[str, ...],
    limit_s: float | None,
    n_chars: int,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged: list[int] = []

    def verdict(source: str, text: str) -> Support:
        judged.append(len(source))
        return Support(names=("Nobody",))

    monkeypatch.setattr(faithfulness, "support", verdict)
    long = f"{' '.join(texts)} " * (405_000 // len(" ".join(texts)))
    fit(long, max_chars=40, rerank=None, time_limit_s=limit_s)
    assert max(judged) >= n_chars
    assert n_chars or max(judged) <= 40_000


LONG_WAYS: list[dict[str, Any]] = [
    {"ratio": 0.0001, "unit": "words"},
    {"ratio": 0.0001, "unit": "graphemes"},
    {"max_length": 1_000_000, "unit": "tweet"},
    {"max_chars": 1_000_000, "prefix": "News: "},
    {"ratio": 0.0001, "unit": "words", "profile": "gigaword"},
]


@pytest.mark.parametrize("length", LONG_WAYS)
@pytest.mark.parametrize("mark", ["", "*new* "])
def test_a_whole_text_is_read_in_small_pieces_of_work(
    fit: Summarizer,
    texts: tuple[str, ...],
    mark: str,
    length: dict[str, Any],
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between two looks at the clock, no more is normalised and measured than two parts."""
    pieces = [0]

    def weighed(made: Any) -> Any:
        def work(text: str, *arguments: Any, **settings: Any) -> Any:
            pieces[-1] += len(text)
            return made(text, *arguments, **settings)

        return work

    class Looked(Clock):
        def __call__(self) -> float:
            pieces.append(0)
            return super().__call__()

    monkeypatch.setattr(fit._engine, "_clock", Looked())
    monkeypatch.setattr(normalise, "nfc", weighed(normalise.nfc))
    monkeypatch.setattr(units, "nfc", weighed(units.nfc))
    long = f"{mark}{' '.join(texts)} " * (950_000 // len(" ".join(texts)))
    summary = fit(long, time_limit_s=1000.0, on_error="return", **length)
    assert summary.error is None
    assert sum(pieces) > 900_000
    assert max(pieces) < 4 * parts.PART


@pytest.mark.parametrize("length", LONG_WAYS)
def test_a_whole_text_is_given_up_in_time(
    fit: Summarizer, texts: tuple[str, ...], length: dict[str, Any], clock: Clock
) -> None:
    long = f"*new* {' '.join(texts)} " * (950_000 // len(" ".join(texts)))
    for limit_s in (0.05, 0.2, 0.5):
        clock.step = 0.01
        begun = clock.now
        with pytest.raises(TimeLimitError, match="ran out while reading the text"):
            fit(long, time_limit_s=limit_s, **length)
        assert clock.now - begun <= 1.2 * limit_s + 0.05 + 3 * clock.step
        cut = fit(long, time_limit_s=limit_s, on_error="return", on_infeasible="cut", **length)
        if "ratio" in length:  # without the whole text there is no limit
            assert isinstance(cut.error, TimeLimitError)
        else:
            assert cut.origin == "cut", cut.error
            assert 1000 < cut.length <= 1_000_000


def test_work_that_nobody_waits_for_ends(fit: Summarizer, texts: tuple[str, ...]) -> None:
    asked: list[bool] = []

    def after(n: int) -> Any:
        asked.clear()
        return lambda: asked.append(True) or len(asked) > n

    summary = fit(texts[0], max_chars=40, is_cancelled=after(10**9))
    assert (summary.text, summary.unfinished) == (fit(texts[0], max_chars=40).text, False)
    n_asked, n_ended = len(asked), 0
    for n in range(n_asked):
        found = fit(texts[0], max_chars=40, is_cancelled=after(n), on_error="return")
        is_ended = found.unfinished or isinstance(found.error, TimeLimitError | NothingFoundError)
        assert is_ended or (n > 0 and found.text == summary.text)  # there was no more to do
        n_ended += is_ended
    assert n_ended >= 2  # before it was begun, and in the search
    many = fit(list(texts) * 3, max_chars=40, is_cancelled=after(0))
    assert all("cancelled while the text waited" in str(one.error) for one in many)
    with pytest.raises(ConfigError, match="is_cancelled must be a function without arguments"):
        fit(texts[0], max_chars=40, is_cancelled=True)


def test_a_slow_function_of_a_callers_ends_in_time_and_is_asked_once_for_each_string(
    fit: Summarizer, texts: tuple[str, ...], clock: Clock
) -> None:
    asked: list[str] = []

    def slow(text: str) -> int:
        asked.append(text)
        clock.now += 0.01
        return len(text)

    limits: dict[str, Any] = {"unit": slow, "max_length": 40, "keep_short": False}
    message = r"the time limit of 1 s ran out while a function of the caller's measured"
    with pytest.raises(NothingFoundError, match=message):
        fit(texts[0], time_limit_s=1.0, **limits)
    assert len(asked) < 110
    first = asked[5:90]
    cut = fit(texts[0], time_limit_s=1.0, on_infeasible="cut", **limits)
    assert (cut.origin, cut.text[-1]) == ("cut", "…")
    asked.clear()
    whole = fit(texts[0], time_limit_s=10_000.0, **limits)
    assert whole.origin == "model"
    assert len(asked) > 200
    assert not set(first) & set(asked)
