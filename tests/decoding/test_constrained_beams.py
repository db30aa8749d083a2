"""Beam and PathMAP under constraints: the best that the constraints accept, by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.decoding import decode
from sumfit.decoding.lexicon import Lexicon
from sumfit.errors import ConstraintError, InfeasibleBudgetError
from sumfit.text import Tokenizer
from tests.decoding.test_constraints import ALWAYS, OPTIONS, SOURCE, TEXTS, random_problem
from tests.oracles import ranked_sequences


@pytest.fixture(scope="module")
def parts() -> tuple[Tokenizer, Lexicon]:
    return Tokenizer.train(TEXTS, vocab_size=360), Lexicon.from_texts(TEXTS)


def problems(name, parts, objective):
    tokenizer, lexicon = parts
    compiled = OPTIONS[name].compile(tokenizer, lexicon, SOURCE)
    for seed in range(25):
        rng = np.random.default_rng([seed, len(name)])
        dag, arguments = random_problem(tokenizer, rng, always=ALWAYS.get(name, ()))
        ranked = ranked_sequences(dag, objective=objective, allowed=compiled.accepts, **arguments)
        yield dag, arguments | {"constraints": compiled, "words_per_vertex": None}, ranked


@pytest.mark.parametrize("name", list(OPTIONS))
def test_beam_keeps_the_constraints_and_certifies_only_the_best(name, parts):
    n_optimal, n_found = 0, 0
    for dag, arguments, ranked in problems(name, parts, "seqmap"):
        try:
            found = decode(dag, method="seqmap-beam", beam_size=30, n_best=2, **arguments)
        except (InfeasibleBudgetError, ConstraintError):
            assert not ranked
            continue
        scores = {item.words: item.score for item in ranked}
        for rank, item in enumerate(found):
            n_found += 1
            assert item.score == pytest.approx(scores[item.words], abs=1e-6)
            assert ranked[rank].score <= item.score + item.gap + 1e-6
            n_optimal += item.optimal
    assert n_optimal > 0.9 * n_found > 3


@pytest.mark.parametrize("name", list(OPTIONS))
def test_path_map_lists_the_best_paths_that_keep_the_constraints(name, parts):
    n_found = 0
    for dag, arguments, ranked in problems(name, parts, "pathmap"):
        if not ranked:
            with pytest.raises((InfeasibleBudgetError, ConstraintError)):
                decode(dag, method="pathmap", **arguments)
            continue
        found = decode(dag, method="pathmap", n_best=3, **arguments)
        n_found += 1
        assert [item.score for item in found] == pytest.approx(
            [item.score for item in ranked[:3]], abs=1e-6
        )
        assert all(item.optimal for item in found)
    assert n_found > 3


def test_beam_too_narrow_for_the_constraints_says_what_to_do(parts):
    for dag, arguments, ranked in problems("phrase", parts, "seqmap"):
        if ranked:
            continue
        with pytest.raises((InfeasibleBudgetError, ConstraintError)) as caught:
            decode(dag, method="seqmap-beam", beam_size=1, **arguments)
        if isinstance(caught.value, InfeasibleBudgetError):
            assert "a beam of 1 found no sequence that costs" in str(caught.value)
            assert "widen it, use method='seqmap' or relax a constraint" in str(caught.value)
            return
    pytest.fail("no problem of this kind among those drawn")
