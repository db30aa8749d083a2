"""The drop-in for the pipeline that transformers removed: its call shapes, its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sumfit
from sumfit import Summarizer
from sumfit.errors import BudgetError, ConfigError, EmptyInputError, InputError
from sumfit.pipeline import SummarizationPipeline


@pytest.fixture(scope="module")
def summarizer(tiny_model: Path) -> SummarizationPipeline:
    return sumfit.pipeline("summarization", model=str(tiny_model))


def test_one_text(summarizer: Any, fit: Summarizer, texts: tuple[str, ...]) -> None:
    assert summarizer(texts[0], max_chars=40) == [
        {"summary_text": fit(texts[0], max_chars=40).text}
    ]


def test_a_list(summarizer: Any, texts: tuple[str, ...]) -> None:
    results = summarizer(list(texts), max_words=6)
    assert [list(one) for one in results] == [["summary_text"]] * len(texts)
    assert all(0 < len(one["summary_text"].split()) <= 6 for one in results)


def test_a_generator(summarizer: Any, texts: tuple[str, ...]) -> None:
    results = summarizer((text for text in texts), max_words=6)
    assert iter(results) is results
    assert list(results) == summarizer(list(texts), max_words=6)


def test_lengths_without_a_unit_are_tokens(
    summarizer: Any, fit: Summarizer, texts: tuple[str, ...]
) -> None:
    [result] = summarizer(texts[0], min_length=5, max_length=8, do_sample=False)
    assert 5 <= fit.count_tokens(result["summary_text"]) <= 8
    assert result["summary_text"] == fit(texts[0], min_tokens=5, max_tokens=8).text
    assert summarizer(texts[0], max_new_tokens=8, min_new_tokens=5) == [result]
    [in_chars] = summarizer(texts[0], max_length=40, unit="chars")
    assert in_chars["summary_text"] == fit(texts[0], max_chars=40).text


def test_options_of_sampling_and_beams_change_nothing(
    summarizer: Any, texts: tuple[str, ...]
) -> None:
    plain = summarizer(texts[0], max_length=8)
    steered = summarizer(
        texts[0],
        max_length=8,
        num_beams=4,
        do_sample=True,
        length_penalty=2.0,
        early_stopping=True,
        no_repeat_ngram_size=3,
        truncation=True,
        clean_up_tokenization_spaces=True,
    )
    assert steered == plain


def test_short_texts_pass_quietly(summarizer: Any, recwarn: pytest.WarningsRecorder) -> None:
    assert summarizer("Ferry service resumes tomorrow.", max_length=142) == [
        {"summary_text": "Ferry service resumes tomorrow."}
    ]
    assert not recwarn.list


def test_a_batch_size_is_taken_with_one_text_and_with_many(
    summarizer: Any, texts: tuple[str, ...]
) -> None:
    plain = summarizer(list(texts), max_words=6)
    assert summarizer(list(texts), max_words=6, batch_size=2) == plain
    assert summarizer(texts[0], max_words=6, batch_size=2) == plain[:1]


def test_defaults_of_the_pipeline(tiny_model: Path, texts: tuple[str, ...]) -> None:
    made = sumfit.pipeline("summarization", tiny_model, device=-1, framework="pt", max_words=5)
    [result] = made(texts[0])
    assert 0 < len(result["summary_text"].split()) <= 5


def test_a_summarizer_as_the_model(fit: Summarizer, texts: tuple[str, ...]) -> None:
    made = sumfit.pipeline(model=fit, max_words=5)
    assert made.summarizer is fit
    assert made(texts[0]) == [{"summary_text": fit(texts[0], max_words=5).text}]


def test_errors(summarizer: Any, texts: tuple[str, ...]) -> None:
    with pytest.raises(
        ConfigError, match=r"task must be one of summarization, .*, was 'fill-mask'"
    ):
        sumfit.pipeline("fill-mask")
    with pytest.raises(BudgetError, match="no length limit was given"):
        summarizer(texts[0])
    with pytest.raises(BudgetError, match="min_length=5 needs a maximum; add max_length="):
        summarizer(texts[0], min_length=5)
    with pytest.raises(EmptyInputError):
        summarizer(["", texts[0]], max_words=5)
    for wrong in (3, None):
        with pytest.raises(InputError, match="give a string or an iterable of strings, was"):
            summarizer(wrong, max_words=5)
    with pytest.raises(ConfigError, match="give one text or one list of texts, got 2 arguments"):
        summarizer(texts[0], texts[1], max_words=5)
