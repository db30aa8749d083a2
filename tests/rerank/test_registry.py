"""Rerankers by name and objects of a caller: one interface, found everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit import Summarizer
from sumfit.cli.app import load_command
from sumfit.dag import DAG
from sumfit.deadline import Deadline
from sumfit.errors import ConfigError
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.rerank import AUTO, RERANKERS, Chooser, GraphMBRReranker, get_reranker
from sumfit.rerank.adapters import as_chooser
from sumfit.rerank.chooser import ListPlan, Ranked, TextRead
from sumfit.rerank.registry import Row
from sumfit.runtime import ModelDirectory
from tests.tiny_model import TEXTS


class Shortest(Chooser):
    """A reranker of a few lines, as somebody would add one."""

    @property
    def name(self) -> str:
        return "shortest"

    @property
    def plan(self) -> ListPlan:
        return ListPlan(n_read=5)

    def rank_texts(
        self, text: TextRead, candidates: Sequence[Candidate], deadline: Deadline
    ) -> Ranked:
        return Ranked(sorted(range(len(candidates)), key=lambda place: len(candidates[place].text)))


class ByTexts:
    name = "by texts"
    n_candidates = 3

    def __init__(self, order: Sequence[int]) -> None:
        self.order = order
        self.seen: list[list[str]] = []

    def rerank(
        self, source_text: str, texts: Sequence[str], nbest: Sequence[Hypothesis]
    ) -> Sequence[int]:
        self.seen.append(list(texts))
        return self.order


class ByBoth(ByTexts):
    n_candidates = 2
    after_best = None

    def rank(self, dag: DAG, nbest: Sequence[Hypothesis]) -> Sequence[int]:
        return list(reversed(range(len(nbest))))


@pytest.fixture
def model(tiny_model: Path) -> ModelDirectory:
    return ModelDirectory.open(tiny_model)


def candidates(n_listed: int, n_extra: int = 0) -> list[Candidate]:
    return [
        Candidate(
            f"text {place}", Hypothesis((place,), 0.0, 0.0, 1), place, is_extra=place >= n_listed
        )
        for place in range(n_listed + n_extra)
    ]


def read() -> TextRead:
    return TextRead(None, None, "A source.")  # type: ignore[arg-type] - neither is read


def test_a_row_is_all_that_a_new_reranker_takes(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RERANKERS, "shortest", Row("brevity", lambda model, scorer: Shortest()))
    fit = Summarizer.from_pretrained(tiny_model, n_workers=1)
    plain = fit(TEXTS[1], max_chars=40, n_best=5, near_doubles=True, rerank=None)
    found = fit(TEXTS[1], max_chars=40, n_best=5, near_doubles=True, rerank="shortest")
    listed = [one.text for one in (plain, *plain.alternatives)]
    assert [one.text for one in (found, *found.alternatives)] == sorted(listed, key=len)
    assert found.chosen_by == "reranker"
    with pytest.raises(
        ConfigError, match=r"'shortest' or the directory .* did you mean 'shortest'"
    ):
        fit(TEXTS[1], max_chars=40, rerank="shortes")


def test_help_names_every_reranker_and_what_chooses() -> None:
    (option,) = [one for one in load_command("text").params if one.name == "rerank"]
    for name, row in RERANKERS.items():
        assert f"{name} ({row.about})" in str(option.help)  # type: ignore[attr-defined]


def test_names_are_looked_up_for_a_model(model: ModelDirectory) -> None:
    assert get_reranker("none", model) is None
    assert get_reranker(AUTO, model) is None  # no scorer
    mbr = get_reranker("mbr", model)
    assert isinstance(mbr, GraphMBRReranker)
    assert mbr.weight == model.config.mbr_weight
    assert get_reranker(mbr, model) is mbr
    for value, message in (
        ("best", r"rerank must be 'auto', .* trained reranker, was 'best'"),
        ("mbr-nbest", "'mbr-nbest' has been removed; use rerank='mbr'"),
        ("neural", r"has no reranker of its own .*; use rerank='mbr'"),
        (3, "or a Reranker, was 3"),
        (ModelDirectory, "or a Reranker, was <class"),
    ):
        with pytest.raises(ConfigError, match=message):
            get_reranker(value, model)


@given(n_listed=st.integers(1, 6), n_extra=st.integers(0, 3), data=st.data())
def test_an_object_orders_those_that_compete_and_no_others(
    n_listed: int, n_extra: int, data: Any
) -> None:
    listed = candidates(n_listed, n_extra)
    n_competing = min(n_listed, ByTexts.n_candidates)
    order = data.draw(st.permutations(range(n_competing)))
    own = ByTexts(order)
    chooser = as_chooser(own)
    assert chooser is not None
    found = chooser.rank_texts(read(), listed, Deadline())
    assert sorted(found.order) == list(range(len(listed)))
    if len(listed) > 1:
        assert own.seen == [[one.text for one in listed[:n_competing]]]
        assert list(found.order) == [*order, *range(n_competing, len(listed))]
    else:
        assert own.seen == []
    assert found.choice_scores is None


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [0, 1, 3], [0, 1, 2, 3]])
def test_an_order_that_is_no_permutation_is_refused(order: list[int]) -> None:
    chooser = as_chooser(ByTexts(order))
    assert chooser is not None
    with pytest.raises(ConfigError, match=r"'by texts' must return each of 0 to 2 once, was \["):
        chooser.rank_texts(read(), candidates(4), Deadline())


def test_an_object_of_both_forms_orders_twice() -> None:
    chooser = as_chooser(ByBoth([1, 0]))
    assert chooser is not None
    assert chooser.plan == ListPlan(n_read=2, n_listed=2, after_best=None)
    assert list(
        chooser.rank_found(read(), [one.hypothesis for one in candidates(4)], Deadline()).order
    ) == [3, 2, 1, 0]
    assert list(chooser.rank_texts(read(), candidates(4), Deadline()).order) == [1, 0, 2, 3]


def test_what_has_no_order_is_no_reranker() -> None:
    assert as_chooser(object()) is None
    assert as_chooser("mbr") is None
