"""A decoder is one module and one row: everything else follows from what the row declares."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from sumfit import DAG, NBest, Options, Summarizer
from sumfit.constraints.compile import Constraints
from sumfit.decoding import METHODS, DecodeOptions, Method, decode, get_decoder
from sumfit.decoding.methods.seqmap import seqmap
from sumfit.errors import ConfigError, ConstraintError, NothingFoundError
from sumfit.length import LengthBudget
from tests.constraints.conftest import TEXTS

TEXT = TEXTS[0]


def first_found(dag: DAG, *, options: DecodeOptions) -> NBest:
    """A decoder that looks for one sequence, by exact search without a limit of cost."""
    wide = options.replace(budget=LengthBudget(max=10_000), n_best=1, words_per_vertex=None)
    return NBest(seqmap(dag, options=wide).hypotheses, "first-found")


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Add the decoder, with what its row declares."""
    module = ModuleType("sumfit.decoding.methods.first_found")
    module.first_found = first_found  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def add(**declared: bool) -> None:
        row = Method("first_found:first_found", **declared)
        monkeypatch.setitem(METHODS, "first-found", row)

    return add


def test_a_row_is_enough_for_a_decoder(fit: Summarizer, register: Any) -> None:
    with pytest.raises(ConfigError, match="method must be one of"):
        Options(method="first-found")
    register()
    graph = fit.graph(TEXT, max_words=6)
    costs = [1] * graph.vocab_size
    budget = LengthBudget(max=6)
    assert get_decoder("first-found") is first_found
    found = decode(graph, unit_cost=costs, budget=budget, method="first-found")
    assert found.method == "first-found"
    assert "first-found" in fit.describe()["methods"]
    options = {"method": "first-found", "constraints": False, "keep_short": False}
    summary = fit(TEXT, max_chars=400, **options)
    assert summary.method == "first-found"
    assert summary.text


def test_constraints_are_refused_unless_the_row_has_them(fit: Summarizer, register: Any) -> None:
    register()
    with pytest.raises(ConstraintError, match="method 'first-found' cannot keep constraints; use"):
        fit(TEXT, max_words=5, method="first-found")
    register(keeps_constraints=True)
    compiled = Constraints(repeat_words=False).compile(fit.tokenizer, fit.model.lexicon, TEXT)
    graph = fit.graph(TEXT, max_words=6)
    costs = [1] * graph.vocab_size
    budget = LengthBudget(max=6)
    for method in ("first-found", "seqmap"):
        decode(graph, unit_cost=costs, budget=budget, method=method, constraints=compiled)
    with pytest.raises(ConstraintError, match="'seqmap-beam', 'pathmap' or 'first-found', or"):
        decode(graph, unit_cost=costs, budget=budget, method="sample", constraints=compiled)


@pytest.mark.parametrize("keeps_limit", [True, False])
def test_an_output_that_breaks_the_limit_is_explained_by_the_row(
    keeps_limit: bool, fit: Summarizer, register: Any
) -> None:
    register(keeps_limit=keeps_limit)
    reason = "best candidates fits the limit" if keeps_limit else "ignores the limit"
    with pytest.raises(NothingFoundError, match=reason):
        fit(TEXT, max_chars=2, method="first-found", constraints=False)
