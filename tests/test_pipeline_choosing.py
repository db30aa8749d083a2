"""The choice by the scorer of the embedded model: what it says, keeps and does not change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from sumfit import Summarizer, measure
from sumfit.deadline import Deadline
from sumfit.errors import ConfigError
from sumfit.hypothesis import Hypothesis
from sumfit.length import unit_costs
from sumfit.rerank.chooser import Chooser, ListPlan, Ranked, TextRead
from sumfit.runtime import default_model_path
from sumfit.truth import support

EXAMPLES = Path(__file__).parents[1] / "examples" / "texts"

pytestmark = pytest.mark.skipif(
    not (default_model_path() / "scorer.onnx").is_file(),
    reason="this checkout has no embedded model with a scorer",
)


@pytest.fixture(scope="module")
def fit() -> Summarizer:
    return Summarizer.from_pretrained()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    files = sorted(EXAMPLES.glob("*.txt"))
    return [file.read_text(encoding="utf-8") for file in files if "-awkward-" not in file.name][:8]


def test_the_summary_says_what_chose_it(fit: Summarizer, texts: list[str]) -> None:
    for text in texts:
        chosen = fit(text, max_chars=60)
        assert chosen.chosen_by == "scorer"
        assert chosen.choice_score is not None
        assert math.isfinite(chosen.choice_score)
        plain = fit(text, max_chars=60, rerank=None)
        assert (plain.chosen_by, plain.choice_score) == ("graph", None)
        assert fit(text, max_chars=60, rerank="none") == plain


def test_the_gap_bounds_what_was_given_up(fit: Summarizer, texts: list[str]) -> None:
    for text in texts:
        chosen, plain = fit(text, max_chars=60), fit(text, max_chars=60, rerank=None)
        assert plain.optimal
        assert chosen.score + chosen.gap >= plain.score - 1e-6
        if chosen.optimal:  # the same words may stand twice in a graph, as "octopuses" and with "O"
            assert chosen.text == plain.text
            assert chosen.score == plain.score
        if chosen.text != plain.text:
            assert chosen.gap > 0


def test_alternatives_come_in_the_order_of_the_choice(fit: Summarizer, texts: list[str]) -> None:
    for text in texts:
        found = fit(text, max_chars=60, n_best=4)
        scores = [one.choice_score for one in (found, *found.alternatives)]
        known = [score for score in scores if score is not None]
        assert len(known) == 4
        assert known[1:] == sorted(known[1:], reverse=True)
        assert found.text == fit(text, max_chars=60).text


def test_neither_batch_nor_other_limits_matter(fit: Summarizer, texts: list[str]) -> None:
    alone = [fit(text, max_chars=50) for text in texts]
    assert fit(texts, max_chars=50) == alone
    for text, one in zip(texts, alone, strict=True):
        assert fit(text, max_chars=[30, 50, 90])[1] == one


@pytest.mark.parametrize(
    ("unit", "limit"), [("words", 8), ("chars", 40), ("bytes", 70), ("tokens", 12), ("cells", 50)]
)
def test_every_unit_is_kept(fit: Summarizer, texts: list[str], unit: str, limit: int) -> None:
    for text in texts:
        found = fit(text, unit=unit, max_length=limit)
        assert 0 < measure(found.text, unit, tokenizer=fit.model.tokenizer) <= limit
        assert found.chosen_by == "scorer"


def test_what_the_source_does_not_support_loses(fit: Summarizer) -> None:
    text = "No one was hurt when a crane fell onto an empty school in Odell on Tuesday."
    found = fit(text, max_chars=50)
    assert support(text, found.text).supported


def test_a_style_changes_what_is_told(fit: Summarizer, texts: list[str]) -> None:
    """The lines of news are often the same; what the model thinks of them is not."""
    news = [fit(text, max_chars=60, style="news") for text in texts]
    subjects = [fit(text, max_chars=60, style="commit") for text in texts]
    pairs = list(zip(news, subjects, strict=True))
    assert all(one.log_prob != other.log_prob for one, other in pairs)
    with pytest.raises(ConfigError, match=r"style must be one of 'auto', 'news'.* was 'poem'"):
        fit(texts[0], max_chars=60, style="poem")


class _Doubter(Chooser):
    """Keeps the order of the search, doubts its first line or not, and notes what it is shown."""

    __slots__ = ("is_doubtful", "lists")

    def __init__(self, *, is_doubtful: bool) -> None:
        self.is_doubtful = is_doubtful
        self.lists: list[list[Hypothesis]] = []

    @property
    def name(self) -> str:
        return "doubter"

    @property
    def plan(self) -> ListPlan:
        return ListPlan(4, 8, 64, shorter={0.7: 3, 0.4: 2})

    def rank_found(self, text: TextRead, found: Sequence[Hypothesis], deadline: Deadline) -> Ranked:
        self.lists.append(list(found))
        return Ranked(range(len(found)), is_doubtful=self.is_doubtful)


def test_shorter_candidates_are_listed_where_the_first_is_doubtful(
    fit: Summarizer, texts: list[str]
) -> None:
    cost = unit_costs(fit.tokenizer, "chars").cost
    for text in texts:
        sure, doubter = _Doubter(is_doubtful=False), _Doubter(is_doubtful=True)
        plain = fit(text, max_chars=60, rerank=sure)
        found = fit(text, max_chars=60, rerank=doubter)
        assert len(sure.lists) == 1
        first, second = doubter.lists
        assert first == sure.lists[0]
        assert second[0] == first[0]
        words = [one.words for one in second]
        assert len(set(words)) == len(words)
        assert {one.words for one in first} < set(words)
        scores = [one.score for one in second]
        assert scores == sorted(scores, reverse=True)
        new = [sum(cost[list(one.words)]) for one in second if one not in first]
        assert 1 <= len(new) <= 5
        assert all(length <= 43 for length in new)  # 0.7 of 60, and no space before the first
        assert (found.text, found.optimal, found.gap) == (plain.text, plain.optimal, plain.gap)


def test_no_shorter_candidates_where_the_length_is_exact(fit: Summarizer, texts: list[str]) -> None:
    doubter = _Doubter(is_doubtful=True)
    fit(texts[0], exact_words=6, rerank=doubter)
    for found in doubter.lists:
        assert all(fit.tokenizer.decode(one.words).count(" ") == 5 for one in found)


def test_confidence_is_a_chance_where_the_scorer_chose(fit: Summarizer, texts: list[str]) -> None:
    known = fit.config.confidence
    for text in texts:
        found = fit(text, max_chars=60, n_best=3)
        for one in (found, *found.alternatives):
            assert (one.confidence is not None) == bool(known)
            assert one.confidence is None or 0.0 < one.confidence < 1.0
        assert fit(text, max_chars=60, rerank=None).confidence is None
        assert fit(text, max_chars=60, rerank="mbr").confidence is None
    assert fit("Bridge closes", max_chars=60).confidence is None  # returned as it is


def test_a_line_that_makes_no_sense_has_little_confidence(fit: Summarizer) -> None:
    if not fit.config.confidence:
        pytest.skip("the embedded model has no verdict")
    clear = fit(
        "The council of Odell closed its old bridge on Monday because the piers are cracked.",
        max_chars=60,
    )
    odd = fit("lol ok so yeah then he was like no way and i was like whatever haha", max_chars=40)
    assert clear.confidence is not None
    assert odd.confidence is not None
    assert clear.confidence > 0.5 > odd.confidence


def test_another_summary_for_lack_of_expansions_is_unfinished(
    fit: Summarizer, texts: list[str]
) -> None:
    n_other = 0
    for text in texts:
        whole = fit(text, max_chars=60)
        for most in (20, 40, 80, 160):
            found = fit(text, max_chars=60, max_expansions=most, on_error="return")
            if found.error is None and found.text != whole.text:
                n_other += 1
                assert found.unfinished
    assert n_other


def test_more_candidates_are_never_fewer(fit: Summarizer, texts: list[str]) -> None:
    for text in texts[:4]:
        counts = [len(fit(text, max_chars=60, n_best=n).alternatives) for n in (8, 13, 24, 40)]
        assert counts == sorted(counts)


def test_no_two_results_have_one_text(fit: Summarizer, texts: list[str]) -> None:
    for text in texts:
        for width in (60, 120, 160):
            found = fit(text, max_chars=width, n_best=8, near_doubles=True)
            written = [found.text, *(one.text for one in found.alternatives)]
            assert len(set(written)) == len(written)


def test_a_foreign_text_has_no_confidence(fit: Summarizer) -> None:
    found = fit(
        "Die Stadtverwaltung hat am Montag angekündigt, dass die alte Brücke wegen Rissen gesperrt "
        "bleibt, bis die Pfeiler im Herbst saniert worden sind.",
        max_chars=60,
    )
    assert found.language == "de"
    assert found.confidence is None
