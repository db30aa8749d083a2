"""The runnable among LangChain's own."""

from __future__ import annotations

import anyio
import pytest

from sumfit import Summarizer
from sumfit.errors import BudgetError, ConfigError, EmptyInputError, InputError
from tests.tiny_model import TEXTS

pytest.importorskip("langchain_core", reason="langchain-core is not installed")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableLambda

from sumfit.integrations.langchain import SummarizeToFit


def test_in_a_chain_with_what_holds_a_text(fit: Summarizer) -> None:
    runnable = SummarizeToFit(summarizer=fit, max_chars=40)
    expected = fit(TEXTS[0], max_chars=40).text
    for given in (TEXTS[0], Document(page_content=TEXTS[0]), AIMessage(TEXTS[0])):
        assert runnable.invoke(given) == expected
    chain = PromptTemplate.from_template("{text}") | runnable | RunnableLambda(str.upper)
    assert chain.invoke({"text": TEXTS[0]}) == expected.upper()


def test_batches_streams_and_asynchronous_calls(fit: Summarizer) -> None:
    runnable = SummarizeToFit(summarizer=fit, max_words=4)
    expected = [fit(text, max_words=4).text for text in TEXTS]
    assert runnable.batch(list(TEXTS)) == expected
    assert list(runnable.stream(TEXTS[0])) == expected[:1]
    assert anyio.run(runnable.ainvoke, TEXTS[1]) == expected[1]


def test_options_bound_later_win(fit: Summarizer) -> None:
    runnable = SummarizeToFit(summarizer=fit, max_chars=40)
    assert runnable.bind(max_chars=25).invoke(TEXTS[0]) == fit(TEXTS[0], max_chars=25).text


def test_a_failure_stays_with_its_text(fit: Summarizer) -> None:
    runnable = SummarizeToFit(summarizer=fit, max_chars=40)
    good, bad = runnable.batch([TEXTS[0], " "], return_exceptions=True)
    assert good == fit(TEXTS[0], max_chars=40).text
    assert isinstance(bad, EmptyInputError)
    with pytest.raises(InputError, match="was dict; put a step before this one"):
        runnable.invoke({"text": TEXTS[0]})  # type: ignore[arg-type]


def test_wrong_options_are_refused_at_once(fit: Summarizer) -> None:
    with pytest.raises(BudgetError):
        SummarizeToFit(summarizer=fit)
    with pytest.raises(ConfigError, match="n_best"):
        SummarizeToFit(summarizer=fit, max_chars=40, n_best=0)
