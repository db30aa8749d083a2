"""One request, one path: what is resolved, predicted and searched, and how often."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sumfit import Summarizer
from sumfit.pipeline import fitting, job, listing, preparing


@pytest.fixture
def counts(fit: Summarizer, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often limits are resolved and graphs predicted and searched."""
    found: Counter[str] = Counter()

    def counted(name: str, made: Any) -> Any:
        def work(*arguments: Any, **settings: Any) -> Any:
            found[name] += 1
            return made(*arguments, **settings)

        return work

    monkeypatch.setattr(job, "resolve_budget", counted("checked", job.resolve_budget))
    resolve = preparing.resolve_budget
    monkeypatch.setattr(preparing, "resolve_budget", counted("resolved", resolve))
    monkeypatch.setattr(listing, "decode", counted("lists", listing.decode))
    monkeypatch.setattr(fitting, "decode_all_lengths", counted("all", fitting.decode_all_lengths))
    predict = fit.backend.predictions
    monkeypatch.setattr(fit.backend, "predictions", counted("predictions", predict))
    return found


def test_each_limit_of_each_text_is_resolved_once_after_one_check(
    fit: Summarizer, texts: tuple[str, ...], counts: Counter[str]
) -> None:
    fit(texts[0], max_chars=40)
    assert (counts["checked"], counts["resolved"]) == (1, 1)
    counts.clear()
    list(fit.stream(iter(texts[:4]), max_chars=40))
    assert (counts["checked"], counts["resolved"]) == (1, 4)
    counts.clear()
    fit(texts[0], max_chars=[30, 40])
    assert (counts["checked"], counts["resolved"]) == (2, 2)


def test_limits_of_one_text_share_one_graph_and_one_search(
    fit: Summarizer, texts: tuple[str, ...], counts: Counter[str]
) -> None:
    limits = [30, 40, 50, 1_000_000]
    found = fit(texts[0], max_chars=limits, rerank=None)
    assert [one.origin for one in found] == ["model", "model", "model", "source"]
    assert (counts["predictions"], counts["all"], counts["lists"]) == (1, 1, 0)
    counts.clear()
    fit(texts[0], max_chars=limits[:2], rerank=None)
    assert (counts["predictions"], counts["all"], counts["lists"]) == (1, 0, 2)


def test_a_text_that_is_kept_or_refused_needs_no_graph(
    fit: Summarizer, texts: tuple[str, ...], counts: Counter[str]
) -> None:
    found = list(fit([texts[0], "", None, "https://example.org"], max_chars=5_000))
    assert [one.origin for one in found if one.error is None] == ["source", "source"]
    assert counts["predictions"] == 0
    assert counts["resolved"] == 2
