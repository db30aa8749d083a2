"""The default model names and numbers only what its texts do, and says what it checked."""

from __future__ import annotations

import pytest

import sumfit
from sumfit.truth import support

TEXTS = [
    "The prime minister told reporters on Monday that she would call an early vote in the autumn.",
    "The search company will pay newspapers in the country 70 million dollars a year for news.",
    "The biggest carmaker of the country is recalling 41,000 vans because the doors may open.",
    "The library will stay open on Sundays after all, the city decided on Thursday evening.",
    "The former president was questioned for four hours about the papers in his garage.",
    "United beat City 3-1 on Sunday after Jonas Varga scored twice in the second half.",
]


@pytest.fixture(scope="module")
def fit() -> sumfit.Summarizer:
    return sumfit.Summarizer.from_pretrained()


@pytest.mark.parametrize("text", TEXTS)
def test_no_candidate_has_a_name_or_number_of_its_own(fit: sumfit.Summarizer, text: str) -> None:
    found = fit(text, max_chars=55, n_best=20, near_doubles=True)
    assert fit(text, max_chars=55, rerank=None).optimal
    for one in (found, *found.alternatives):
        verdict = support(text, one.text)
        assert verdict.names == (), one.text
        assert one.checks["names"]
        assert one.faithful is verdict.supported
        assert one.unsupported == verdict.reasons


def test_the_switches_let_names_and_numbers_in_again(fit: sumfit.Summarizer) -> None:
    free = {"source_names_only": False, "source_numbers_only": False}
    found = [
        one
        for text in TEXTS
        for summary in [fit(text, max_chars=55, n_best=300, near_doubles=True, rerank=None, **free)]
        for one in (summary, *summary.alternatives)
    ]
    assert any(not one.checks["names"] for one in found)


def test_faithful_takes_one_that_keeps_the_denial(fit: sumfit.Summarizer) -> None:
    text = "Regulators rejected the merger of Northwall Rail and Kestrel Trams on Tuesday evening."
    found = fit(text, max_chars=60, faithful=True)
    assert found.faithful
    assert found.checks == dict.fromkeys(found.checks, True)
