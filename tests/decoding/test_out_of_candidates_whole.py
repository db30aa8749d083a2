"""Certificates against a plain search of the whole vocabulary, words outside at their bound.

What is certified must be at least as good as any allowed sequence, each word outside the
candidates being as probable as it may be; a gap must hold the difference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sumfit.constraints.compile import CompiledConstraints, Constraints
from sumfit.constraints.lexicon import WORD_PATTERN, Lexicon
from sumfit.dag import DAG
from sumfit.decoding import decode
from sumfit.errors import SumfitError
from sumfit.length import LengthBudget
from sumfit.text import PieceClass, Tokenizer
from tests.constraints.conftest import TEXTS
from tests.constraints.test_constraints import OPTIONS, SOURCE
from tests.strategies_dag import random_dag
from tests.tuned import tune

_MOST_PREFIXES = 1000


def is_beaten(
    dag: DAG,
    asked: dict[str, Any],
    compiled: CompiledConstraints,
    listed: list[tuple[int, ...]],
    bound: float,
) -> bool | None:
    """Whether anything but the listed sequences has a score above the bound; None: too long."""
    prob = np.tile(np.exp(dag.other_logp[1:-1].astype(float)), (dag.vocab_size, 1))
    prob[dag.word_ids] = np.exp(dag.word_logp[1:-1].astype(float)).T
    prob *= math.exp(asked["bonus"])
    links = np.exp(dag.link_logp.astype(float))
    end = np.ones(prob.shape[1]) if asked["ending"] == "any" else links[1:-1, -1]
    low, high, per_unit = asked["budget"].low, asked["budget"].high, asked["unit_bonus"]
    ahead = np.zeros_like(end)  # the most that can still come, whatever it costs
    most = prob.max(axis=0) * math.exp(max(0.0, per_unit * high))
    for j in range(end.size - 1, -1, -1):
        ahead[j] = max(end[j], links[j + 1, 1:-1] @ (most * ahead))
    bar = math.exp(bound + 1e-7)
    todo = [((), 0, links[0, 1:-1], compiled.start(end.size + 2))]
    n_seen = 0
    while todo:
        words, spent, mass, state = todo.pop()
        total = spent + asked["unit_cost" if words else "first_cost"]
        gain = np.exp(per_unit * total)
        worth = (prob @ (mass * ahead)) * gain
        for v in np.flatnonzero((worth > bar) & (total <= high)).tolist():
            n_seen += 1
            if n_seen > _MOST_PREFIXES:
                return None
            after = compiled.allows(state, v)
            if after is None:
                continue
            arrived, longer = mass * prob[v], (*words, v)
            is_better = arrived @ end * gain[v] > bar and total[v] >= low
            if is_better and compiled.allows_end(after) and longer not in listed:
                return True
            todo.append((longer, total[v], arrived @ links[1:-1, 1:-1], after))
    return False


def random_request(tokenizer: Tokenizer, rng: np.random.Generator) -> tuple[DAG, dict[str, Any]]:
    """A tiny graph whose words outside may well be better, and what is asked of it."""
    n_words, n_vertices = int(rng.integers(4, 14)), int(rng.integers(4, 7))
    share = np.array([0, 4, 1.5, 1.5, 0.2])[tokenizer.piece_class]
    share *= [len(piece) for piece in tokenizer.piece_bytes]
    ids = rng.choice(tokenizer.vocab_size, n_words, replace=False, p=share / share.sum())
    small = random_dag(rng, n_vertices=n_vertices, n_words=n_words, sharpness=1.5)
    other = np.minimum(small.word_logp.max(axis=1) + rng.normal(-1.5, 1.5, n_vertices), 0)
    dag = DAG(
        np.sort(ids).astype(np.int32),
        small.word_logp,
        small.link_logp,
        other.astype(np.float32),
        tokenizer.vocab_size,
    )
    starts = tokenizer.starts_word.astype(np.int32)
    by_unit = {
        "tokens": (np.ones_like(starts), np.ones_like(starts)),
        "words": (starts, np.ones_like(starts)),
        "any": (rng.integers(0, 4, starts.size), rng.integers(0, 4, starts.size)),
    }
    cost, first_cost = by_unit[str(rng.choice(list(by_unit)))]
    high = int(rng.integers(1, 7))
    return dag, {
        "unit_cost": cost.astype(np.int32),
        "first_cost": first_cost.astype(np.int32),
        "budget": LengthBudget(min=int(rng.integers(0, high + 1)), max=high),
        "ending": str(rng.choice(["eos", "any"])),
        "bonus": float(rng.choice([0.0, 0.8])),
        "unit_bonus": float(rng.choice([0.0, 0.3, -0.4])),
        "words_per_vertex": None,
        "max_expansions": int(rng.choice([1, 30, 2000])),
        "n_best": int(rng.choice([1, 3])),
        "after_best": [None, 5][int(rng.integers(2))],
    }


def test_nothing_in_the_whole_vocabulary_is_above_a_certificate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizer = Tokenizer.train(TEXTS, vocab_size=320)
    lexicon = Lexicon.from_words(WORD_PATTERN.findall(" ".join(TEXTS)))
    compiled = [
        item.compile(tokenizer, words, SOURCE)
        for item in [*OPTIONS.values(), Constraints.recommended(required=("run",))]
        for words in (lexicon, None)
    ]
    assert (tokenizer.piece_class == PieceClass.OTHER).any()
    tune(monkeypatch, expansions_before_giving_up=1)
    n_certified = n_left = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 94])
        dag, asked = random_request(tokenizer, rng)
        rules = compiled[int(rng.integers(len(compiled)))]
        tune(monkeypatch, least_before_tightening=int(rng.choice([2, 100])))
        try:
            found = list(decode(dag, **asked, constraints=rules))
        except SumfitError:
            continue
        for place, item in enumerate(found):
            listed = [one.words for one in found[: place + 1]]
            bound = item.score + item.gap
            if bound < 20:
                assert not is_beaten(dag, asked, rules, listed, bound), (seed, place)
                n_certified += item.optimal
                n_left += not item.optimal
    assert n_certified > 50
    assert n_left > 50
