"""The choice by the scorer of the embedded model: what it says, keeps and does not change."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from sumfit import Summarizer, measure
from sumfit.errors import ConfigError
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
    news = [fit(text, max_chars=60, style="news").text for text in texts]
    subjects = [fit(text, max_chars=60, style="commit").text for text in texts]
    assert news != subjects
    with pytest.raises(ConfigError, match=r"style must be one of 'auto', 'news'.* was 'poem'"):
        fit(texts[0], max_chars=60, style="poem")
