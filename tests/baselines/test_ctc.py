"""CTC called like a summarizer: limits are part of the search."""

from __future__ import annotations

from pathlib import Path

import pytest

from sumfit.baselines import load_baseline
from sumfit.baselines.base import Baseline
from sumfit.baselines.ctc import CTCBaseline
from sumfit.decoding.methods.ctc import ctc_log_prob
from sumfit.errors import ConfigError, InfeasibleBudgetError
from sumfit.length import measure
from sumfit.models.ctc import BLANK
from tests.tiny_baseline import TEXTS


@pytest.fixture(scope="module")
def baseline(ctc_directory: Path) -> Baseline:
    found = load_baseline(ctc_directory, device="cpu")
    assert isinstance(found, CTCBaseline)
    return found


@pytest.mark.parametrize("method", ["alignment", "prefix-beam"])
@pytest.mark.parametrize(
    ("keyword", "limit"),
    [
        ("max_words", 3),
        ("exact_words", 4),
        ("max_chars", 17),
        ("exact_chars", 21),
        ("max_bytes", 12),
        ("max_tokens", 5),
    ],
)
def test_no_limit_is_ever_broken_and_nothing_is_cut(
    baseline: Baseline, keyword: str, limit: int, method: str
) -> None:
    unit = keyword.rpartition("_")[2]
    for summary in baseline(TEXTS, keep_short=False, method=method, **{keyword: limit}):
        assert summary.error is None
        length = measure(summary.text, unit, tokenizer=baseline.tokenizer)
        assert length == summary.length
        assert length == limit if keyword.startswith("exact") else 0 < length <= limit
        assert not summary.text_cut
        # The tokenizer may spell a text otherwise than the search did, in fewer or more pieces.
        assert summary.optimal == (method == "alignment") or unit == "tokens"
        assert summary.log_prob < 0


def test_prefix_suffix_and_ratio_count(baseline: Baseline) -> None:
    framed = baseline(TEXTS[0], max_chars=20, prefix="<b>", suffix="</b>")
    assert framed.text.startswith("<b>")
    assert framed.text.endswith("</b>")
    assert framed.length == len(framed.text) <= 20
    share = baseline(TEXTS[0], ratio=0.3)
    assert share.limit == 3
    assert share.length <= 3


def test_a_result_depends_on_its_own_text_alone(baseline: Baseline) -> None:
    together = baseline(TEXTS, max_words=4, keep_short=False)
    for text, summary in zip(TEXTS, together, strict=True):
        alone = baseline(text, max_words=4, keep_short=False)
        assert alone.text == summary.text
        assert alone.log_prob == pytest.approx(summary.log_prob, abs=1e-3)


def test_looking_at_one_label_or_at_all_gives_the_same(baseline: Baseline) -> None:
    few = baseline(TEXTS, exact_words=3, labels_per_slot=1, keep_short=False)
    every = baseline(TEXTS, exact_words=3, labels_per_slot=400, keep_short=False)
    assert [item.score for item in few] == pytest.approx([item.score for item in every], abs=1e-6)


def test_log_prob_is_that_of_the_words_over_all_alignments(baseline: Baseline) -> None:
    import torch

    from sumfit.baselines.ctc import pad_slots

    summary = baseline(TEXTS[1], max_words=3, keep_short=False)
    ids = baseline.tokenizer.encode(TEXTS[1])
    with torch.inference_mode():
        frames = baseline.network(*pad_slots([ids], [len(ids)]))[0].numpy()
    expected = ctc_log_prob(frames, summary.words, blank=BLANK)
    assert summary.log_prob == pytest.approx(expected, abs=1e-4)


def test_a_least_length_gets_the_slots_it_needs(baseline: Baseline) -> None:
    summary = baseline(TEXTS[1], exact_words=15, keep_short=False)
    assert summary.length == 15
    with pytest.raises(InfeasibleBudgetError, match="no string of 48 frames costs exactly 60"):
        baseline(TEXTS[1], exact_words=60, keep_short=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "greedy"}, "method must be one of 'alignment', 'prefix-beam', was 'greedy'"),
        ({"bonus": float("nan")}, "bonus must be a finite number, was nan"),
        ({"beam_size": 0}, "beam_size must be a whole number of at least 1, was 0"),
        ({"labels_per_slot": True}, "labels_per_slot must be a whole number of at least 1"),
    ],
)
def test_options_out_of_range_are_one_clear_error(
    baseline: Baseline, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        baseline(TEXTS[0], max_words=3, **options)
