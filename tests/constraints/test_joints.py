"""What may be joined without a space: examples, and exact search against a plain check."""

from __future__ import annotations

import dataclasses
import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumfit.constraints.compile import Constraints
from sumfit.constraints.joints import joints_of
from sumfit.constraints.lexicon import WORD_PATTERN, Lexicon
from sumfit.dag import DAG
from sumfit.decoding import decode
from sumfit.errors import InfeasibleBudgetError
from sumfit.length import LengthBudget
from sumfit.text import Tokenizer
from tests.oracles import ranked_sequences
from tests.strategies_dag import random_dag

SOURCE = (
    "A two-year-old lie-in isn't R&D of the 12th, said O’Brien: "
    "mail jo@odell.org about 3.5 and 1,000 dogs' snake_case, 10-12 at €5."
)
TEXTS = [
    SOURCE,
    "two year old in is n't 's 't lie-ins dog's don't dogs 12 5 10 & @ _ : jo odell org",
    "it's dog’s isn’t two–year old—dog",
] * 6


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXTS, vocab_size=420, min_frequency=1)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon.from_words(WORD_PATTERN.findall(" ".join(TEXTS)))


@pytest.mark.parametrize(
    ("text", "is_accepted"),
    [
        ("two-year-old", True),
        ("two-year", True),
        ("year-old", True),
        ("Two-Year", True),
        ("two–year", True),  # an en dash is a hyphen here
        ("two—year", False),  # a dash is none
        ("two-old", False),
        ("year-two", False),
        ("old-in", False),
        ("lie-in", True),
        ("lie-ins't", False),
        ("isn't", True),
        ("isn’t", True),
        ("don't", True),  # a contraction of English
        ("dog't", False),
        ("dog's", True),  # a noun takes it
        ("dog’s old", True),
        ("the's", False),
        ("it's", True),
        ("12's", False),
        ("12th", True),
        ("10th", False),
        ("12dogs", False),
        ("dogs12", False),
        ("R&D", True),
        ("D&R", False),
        ("10-12", True),
        ("12-10", False),
        ("10:12", True),
        ("1,000", True),
        ("10.5", True),
        ("10:dog", False),
        ("O'Brien", True),
        ("jo@odell", True),  # a part: the finished text is looked at again
        ("odell@jo", False),
        ("snake_case", True),
        ("case_snake", False),
        ("old:dog", False),
        ("old: dog", True),
        ("old>dog", False),
        ("(old dog)", True),
        ("€5", True),
        ("€12", True),
        ("dog's'old", False),
        ("dog'sold", False),
        ("'t old", False),
        ("old 's dog", False),
    ],
)
def test_words_are_joined_as_the_source_joins_them(
    tokenizer: Tokenizer, lexicon: Lexicon, text: str, is_accepted: bool
) -> None:
    rules = Constraints(whole_words=True).compile(tokenizer, lexicon, SOURCE)
    assert rules.accepts(tokenizer.encode(text)) is is_accepted
    anything = Constraints(repeat_words=False).compile(tokenizer, lexicon, SOURCE)
    assert anything.accepts(tokenizer.encode(text))


def test_tokenised_text_has_clitics_apart(tokenizer: Tokenizer, lexicon: Lexicon) -> None:
    ids = tokenizer.encode("old dog 's lie-in")
    for source, is_good in (
        (SOURCE, False),
        ("the dog , a lie-in .", True),
        ("it 's lie-in", True),
    ):
        rules = Constraints(whole_words=True).compile(tokenizer, lexicon, source)
        assert rules.accepts(ids) is is_good, source


def test_a_required_phrase_may_be_joined(tokenizer: Tokenizer, lexicon: Lexicon) -> None:
    options = Constraints(whole_words=True, required=("old-dog",))
    rules = options.compile(tokenizer, lexicon, SOURCE)
    assert rules.accepts(tokenizer.encode("the old-dog"))


ALLOWED = {
    *("two-year", "year-old", "lie-in", "R&D", "12th", "O'Brien", "jo@odell", "odell.org"),
    *("snake_case", "10-12"),
}
EDGES = re.compile(r"[^\W\d_]+|\d+|(?:[^\w\s]|_)+")


def plain_check(text: str) -> bool:
    """Whether every word next to another is joined as in the source; written for ASCII."""
    for token in text.split():
        atoms = EDGES.findall(token)
        words = [at for at, atom in enumerate(atoms) if atom[0].isalnum()]
        for first, second in itertools.pairwise(words):
            marks = "".join(atoms[first + 1 : second])
            joined = f"{atoms[first]}{marks}{atoms[second]}"
            is_number = atoms[first].isdigit() and atoms[second].isdigit()
            if is_number and marks in (".", ",", ":"):
                continue
            if joined.lower() not in {one.lower() for one in ALLOWED}:
                return False
    return True


PIECES = (
    *(b" two", b"two", b"-", b" year", b"year", b" old", b"old", b"&", b"@", b"_", b":", b"12"),
    *(b" 12", b"th", b"10", b" R", b"D", b"lie", b"in", b" snake", b"case", b"jo", b" jo"),
    *(b"odell", b".", b"org"),
)


def ids_of(tokenizer: Tokenizer) -> list[int]:
    found = [v for v, piece in enumerate(tokenizer.piece_bytes) if piece in PIECES]
    assert len(found) > 15
    return found


def test_the_rules_accept_what_a_plain_check_of_the_string_accepts(
    tokenizer: Tokenizer, lexicon: Lexicon
) -> None:
    rules = Constraints(whole_words=True).compile(tokenizer, lexicon, SOURCE)
    known = {word.decode() for word in lexicon} | {word.decode().title() for word in lexicon}
    rng = np.random.default_rng(3)
    pool = ids_of(tokenizer)
    n_accepted = n_joined = 0
    for _ in range(6000):
        ids = rng.choice(pool, size=rng.integers(1, 6)).tolist()
        text = tokenizer.decode(ids)
        words = re.findall(r"[^\W\d_]+", text)
        expected = plain_check(text) and all(word in known for word in words)
        assert rules.accepts(ids) is expected, (text, tokenizer.pieces(ids))
        n_accepted += expected
        n_joined += expected and bool(re.search(r"\w[-@&_]\w", text))
    assert n_accepted > 300
    assert n_joined > 10


@pytest.mark.parametrize("method", ["seqmap", "pathmap"])
@pytest.mark.parametrize("words_per_vertex", [None, 3])
def test_search_finds_the_best_that_is_joined_well(
    tokenizer: Tokenizer, lexicon: Lexicon, method: str, words_per_vertex: int | None
) -> None:
    rules = Constraints(whole_words=True).compile(tokenizer, lexicon, SOURCE)
    pool = ids_of(tokenizer)
    n_found = n_dropped = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 5])
        ids = np.sort(rng.choice(pool, size=5, replace=False)).astype(np.int32)
        small = random_dag(rng, n_vertices=6, n_words=5, sharpness=1.5, word_dropout=0)
        dag = DAG(ids, small.word_logp, small.link_logp, small.other_logp, tokenizer.vocab_size)
        arguments = {
            "unit_cost": np.ones(tokenizer.vocab_size, dtype=np.int32),
            "budget": LengthBudget(max=4),
            "ending": "eos",
            "bonus": float(rng.choice([0.0, 1.0])),
        }
        ranked = ranked_sequences(dag, **arguments, allowed=rules.accepts)
        free = ranked_sequences(dag, **arguments)
        search = {"constraints": rules, "method": method, "words_per_vertex": words_per_vertex}
        if not ranked:
            with pytest.raises(InfeasibleBudgetError):
                decode(dag, **arguments, **search)
            continue
        best = decode(dag, **arguments, **search).best
        assert plain_check(tokenizer.decode(best.words))
        if method == "seqmap" and best.optimal:
            assert best.score == pytest.approx(ranked[0].score, abs=1e-6), seed
            n_found += 1
            n_dropped += free[0].words != ranked[0].words
    if method == "seqmap":
        assert n_found > 30
        assert n_dropped > 10


@given(st.text(max_size=40))
def test_any_source_has_joints(source: str) -> None:
    joints = joints_of(source)
    for values in joints:
        assert (values[1:] > values[:-1]).all()
    assert joints_of(source + " ").whole.size == joints.whole.size


@pytest.mark.parametrize("method", ["seqmap", "pathmap", "seqmap-beam"])
def test_a_filler_ends_an_output_only_with_a_reason(
    tokenizer: Tokenizer, lexicon: Lexicon, method: str
) -> None:
    tokenizer = Tokenizer.train([*TEXTS, "old dogs review reviews " * 9], vocab_size=420)
    lexicon = Lexicon.from_words(["old", "dogs", "review", "reviews"])
    ids = np.sort([tokenizer.piece_bytes.index(b) for b in (b" old", b" dogs", b" review")])
    word = np.log(np.tile([0.2, 0.3, 0.4], (5, 1))).astype(np.float32)
    link = np.where(np.triu(np.ones((5, 5)), 1), np.log(0.4), -np.inf).astype(np.float32)
    other = np.full(5, -np.inf, dtype=np.float32)
    dag = DAG(ids.astype(np.int32), word, link, other, tokenizer.vocab_size)
    options = Constraints(dangling_end=False, whole_words=True, repeat_words=False)
    for source, is_good in ((SOURCE, False), ("He reviewed old dogs", True)):
        rules = options.compile(tokenizer, lexicon, source)
        assert rules.accepts(tokenizer.encode("old dogs review")) is is_good
        assert rules.accepts(tokenizer.encode("review old dogs"))
        kept, _ = rules.contexts(np.arange(tokenizer.vocab_size))
        fresh, _ = dataclasses.replace(rules, usual_contexts=None).contexts(
            np.arange(tokenizer.vocab_size)
        )
        assert (kept == fresh).all()
        arguments = {
            "unit_cost": np.ones(tokenizer.vocab_size, dtype=np.int32),
            "budget": LengthBudget(exact=3),
        }
        best = decode(dag, **arguments, constraints=rules, method=method).best
        ranked = ranked_sequences(dag, **arguments, allowed=rules.accepts)
        assert best.score == pytest.approx(ranked[0].score, abs=1e-6)
        assert tokenizer.decode(best.words).endswith("review") <= is_good
