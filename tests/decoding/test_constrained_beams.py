"""Beam and PathMAP under constraints: the best that the constraints accept, by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.constraints.lexicon import Lexicon
from sumfit.decoding import decode
from sumfit.errors import ConstraintError, InfeasibleBudgetError, NothingFoundError
from sumfit.text import Tokenizer
from tests.constraints.test_constraints import ALWAYS, OPTIONS, SOURCE, random_problem
from tests.oracles import ranked_sequences


@pytest.fixture(scope="module")
def parts(tokenizer: Tokenizer, lexicon: Lexicon) -> tuple[Tokenizer, Lexicon]:
    return tokenizer, lexicon


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


@pytest.mark.parametrize("name", list(OPTIONS))
def test_a_path_search_cut_short_falls_back_on_a_beam_with_a_sound_gap(name, parts):
    n_found = n_behind = 0
    for dag, arguments, ranked in problems(name, parts, "pathmap"):
        scores = {item.words: item.score for item in ranked}
        for width in (1, 30):
            cut = {"max_expansions": 2, "beam_size": width, "n_best": 2}
            try:
                found = decode(dag, method="pathmap", **arguments, **cut)
            except NothingFoundError:
                assert width == 1 or not ranked
                continue
            except (InfeasibleBudgetError, ConstraintError):
                assert not ranked
                continue
            assert len({item.words for item in found}) == len(found)
            assert [item.score for item in found] == sorted(
                (item.score for item in found), reverse=True
            )
            for item in found:
                n_found += 1
                assert item.score == pytest.approx(scores[item.words], abs=1e-6)
                assert ranked[0].score <= item.score + item.gap + 1e-6
                n_behind += item.score < ranked[0].score - 1e-6 and not item.optimal
    assert n_found > n_behind > 0


def test_a_path_search_that_finds_nothing_does_not_claim_that_there_is_nothing(parts):
    said = set()
    for dag, arguments, ranked in problems("phrase", parts, "pathmap"):
        try:
            decode(dag, method="pathmap", max_expansions=2, beam_size=1, **arguments)
        except NothingFoundError as error:
            said.add(str(error))
        except (InfeasibleBudgetError, ConstraintError):
            assert not ranked
    assert said == {
        "no path among the best 2 prefixes, nor in a beam of 1, meets the budget and obeys the "
        "constraints; raise the limit, raise max_expansions or beam_size, lower the bonus or relax "
        "a constraint"
    }


def test_beam_too_narrow_for_the_constraints_says_what_to_do(parts):
    said = ""
    for dag, arguments, ranked in problems("phrase", parts, "seqmap"):
        try:
            decode(dag, method="seqmap-beam", beam_size=1, **arguments)
        except NothingFoundError as error:
            said = str(error)
        except (InfeasibleBudgetError, ConstraintError):
            assert not ranked, "who claims that there is nothing must be right"
    assert "a beam of 1 found no sequence that costs" in said
    assert "widen it, use method='seqmap' or relax a constraint" in said
