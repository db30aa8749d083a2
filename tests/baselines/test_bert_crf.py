"""BERT-CRF called like a summarizer: it ends where it likes, and is cut where that is too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from sumfit.baselines import load_baseline
from sumfit.baselines.base import Baseline
from sumfit.baselines.bert_crf import BertCRFBaseline
from tests.tiny_baseline import TEXTS


@pytest.fixture(scope="module")
def baseline(bert_crf_directory: Path) -> Baseline:
    found = load_baseline(bert_crf_directory, device="cpu")
    assert isinstance(found, BertCRFBaseline)
    return found


def test_the_same_text_whatever_the_limit_cut_after_a_word(baseline: Baseline) -> None:
    whole = baseline(TEXTS, max_words=1000, keep_short=False)
    assert all(item.text and not item.text_cut for item in whole)
    for limit in (1, 2, 4):
        for item, full in zip(
            baseline(TEXTS, max_words=limit, keep_short=False), whole, strict=True
        ):
            assert item.length <= limit
            assert item.text_cut == (full.length > limit)
            assert full.text.startswith(item.text)


def test_a_result_depends_on_its_own_text_alone(baseline: Baseline) -> None:
    together = baseline(TEXTS, max_words=1000, keep_short=False)
    for text, summary in zip(TEXTS, together, strict=True):
        alone = baseline(text, max_words=1000, keep_short=False)
        assert alone.text == summary.text
        assert alone.log_prob == pytest.approx(summary.log_prob, abs=1e-3)
        assert alone.log_prob < 0
