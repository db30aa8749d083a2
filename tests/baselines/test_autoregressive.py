"""AT and AT-LenInfo called like a summarizer."""

from __future__ import annotations

import pytest

from sumfit.baselines import load_baseline
from sumfit.baselines.autoregressive import pad_sources, words_asked_for
from sumfit.baselines.base import Wanted
from sumfit.baselines.beam_search import beam_search
from sumfit.errors import ConfigError
from sumfit.length import resolve_budget
from sumfit.pipeline.source import prepare
from tests.tiny_baseline import TEXTS


@pytest.fixture(params=["at_directory", "leninfo_directory"])
def fit(request):
    return load_baseline(request.getfixturevalue(request.param), device="cpu", batch_size=3)


def test_the_best_of_the_beam_is_returned_or_its_first_words(fit):
    for text in TEXTS:
        wanted = wanted_of(fit, text, max_words=4)
        ids = pad_sources([wanted.source.ids])
        told = ids.new_tensor([4]) if fit.system == "at-leninfo" else None
        best = beam_search(fit.network, ids, beam_size=3, length_penalty=0.5, n_words=told)[0][0]
        written = fit.tokenizer.decode(best.words)
        options = {"beam_size": 3, "length_penalty": 0.5, "keep_short": False}
        summary = fit(text, max_words=4, on_error="return", **options)
        if not written:
            assert "wrote nothing" in str(summary.error)
        elif len(written.split()) <= 4:
            assert (summary.text, summary.log_prob) == (written, pytest.approx(best.log_prob))
        else:
            assert written.startswith(summary.text)
            assert summary.text_cut


def test_a_summary_does_not_depend_on_its_batch(fit):
    options = {"max_words": 5, "keep_short": False, "on_error": "return"}
    together = fit(TEXTS, **options)
    assert [s.text for s in together] == [fit(text, **options).text for text in TEXTS]


def wanted_of(fit, text, **length):
    source = prepare(text, tokenizer=fit.tokenizer, profile="natural", max_source=48)
    return Wanted(source, resolve_budget(**length, source=text, tokenizer=fit.tokenizer))


@pytest.mark.parametrize(
    ("length", "n_words"),
    [
        ({"max_words": 7}, 7),
        ({"exact_words": 3}, 3),
        ({"max_words": 0}, 1),
        ({"max_chars": 20}, 4),  # 20 characters in 4 words of the text below
        ({"max_bytes": 11}, 2),
        ({"max_chars": 10, "prefix": "12345"}, 1),
        ({"ratio": 0.5, "unit": "chars"}, 2),
    ],
)
def test_a_limit_in_any_unit_becomes_words(leninfo_directory, length, n_words):
    fit = load_baseline(leninfo_directory, device="cpu")
    wanted = wanted_of(fit, "four five six eight.", **length)
    assert words_asked_for(wanted, fit.tokenizer) == n_words


def test_options_are_checked(fit):
    for options, message in (
        ({"beam_size": 0}, "beam_size must be a whole number of at least 1, was 0"),
        ({"beam_size": True}, "beam_size must be a whole number of at least 1, was True"),
        ({"length_penalty": -1}, "length_penalty must be 0 or more, was -1"),
        ({"length_penalty": "a"}, "length_penalty must be a number, was 'a'"),
    ):
        with pytest.raises(ConfigError, match=message):
            fit(TEXTS[0], max_words=3, **options)
