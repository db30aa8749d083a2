"""CTC decoding under a budget equals enumeration of all alignments."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sumfit.decoding.methods.ctc import ctc_decode, ctc_log_prob
from sumfit.errors import BudgetError, ConfigError, GraphError, InfeasibleBudgetError
from sumfit.length import LengthBudget
from tests import oracles
from tests.strategies_dag import random_budget


def random_frames(rng: np.random.Generator) -> tuple[np.ndarray, int]:
    n_frames, n_labels = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    logits = rng.normal(size=(n_frames, n_labels)) * float(rng.choice([0.5, 2.0]))
    logits[rng.random(logits.shape) < 0.1] = -np.inf
    logits[:, 0] = 0.0
    frames = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return frames, int(rng.integers(n_labels))


def draw(seed: int, n: int):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        frames, blank = random_frames(rng)
        n_labels = frames.shape[1]
        options = {
            "unit_cost": rng.integers(0, 4, size=n_labels),
            "first_cost": rng.integers(0, 4, size=n_labels) if rng.random() < 0.5 else None,
            "budget": random_budget(rng, 6),
            "bonus": float(rng.choice([0.0, 0.6])),
        }
        sums, best = oracles.enumerate_ctc(frames, blank)
        allowed = {
            words: total
            for words, total in sums.items()
            if words
            and total > -math.inf
            and options["budget"].low
            <= oracles.total_cost(words, options["unit_cost"], options["first_cost"])
            <= options["budget"].high
        }
        yield frames, blank, options, allowed, best


def check_alignment(seed: int, n: int) -> None:
    for frames, blank, options, allowed, best in draw(seed, n):
        if not allowed:
            with pytest.raises(InfeasibleBudgetError):
                ctc_decode(frames, blank=blank, **options)
            continue
        found = ctc_decode(frames, blank=blank, **options).best
        scores = {words: best[words] + options["bonus"] * len(words) for words in allowed}
        assert found.score == pytest.approx(max(scores.values()), abs=1e-9)
        assert scores[found.words] == pytest.approx(found.score, abs=1e-9)
        assert found.log_prob == pytest.approx(allowed[found.words], abs=1e-9)
        assert oracles.ctc_collapse(found.path, blank) == found.words
        assert found.optimal


def test_alignment_is_the_enumerated_maximum():
    check_alignment(seed=71, n=300)


@pytest.mark.slow
def test_alignment_is_the_enumerated_maximum_on_many_outputs():
    check_alignment(seed=72, n=10_000)


def test_prefix_beam_with_room_for_everything_is_the_enumerated_maximum_of_sums():
    for frames, blank, options, allowed, _ in draw(73, 200):
        arguments = {"blank": blank, "method": "prefix-beam", "beam_size": 2000, **options}
        if not allowed:
            with pytest.raises(InfeasibleBudgetError):
                ctc_decode(frames, **arguments)
            continue
        found = ctc_decode(frames, n_best=3, **arguments)
        scores = sorted(
            (total + options["bonus"] * len(words) for words, total in allowed.items()),
            reverse=True,
        )
        assert [item.score for item in found] == pytest.approx(scores[:3], abs=1e-9)


def slow_prefix_beam(frames, blank, *, unit_cost, budget, beam_size, n_labels):
    """The prefix beam in dictionaries: mass of a prefix that ends in a blank, or in its label."""
    beams = {0: {(): (0.0, -math.inf)}}
    for frame in frames:
        grown = {}

        def add(spent, words, in_blank, in_label, grown=grown):
            prefixes = grown.setdefault(spent, {})
            old = prefixes.get(words, (-math.inf, -math.inf))
            prefixes[words] = (np.logaddexp(old[0], in_blank), np.logaddexp(old[1], in_label))

        for spent, prefixes in beams.items():
            for words, (in_blank, in_label) in prefixes.items():
                whole = np.logaddexp(in_blank, in_label)
                stay = in_label + frame[words[-1]] if words else -math.inf
                add(spent, words, whole + frame[blank], stay)
                for v in np.argsort(-frame)[:n_labels].tolist():
                    before = in_blank if words and words[-1] == v else whole
                    if v != blank and spent + unit_cost[v] <= budget.high:
                        add(spent + unit_cost[v], (*words, v), -math.inf, before + frame[v])
        beams = {
            spent: dict(sorted(some.items(), key=lambda item: -np.logaddexp(*item[1]))[:beam_size])
            for spent, some in grown.items()
        }
    found = [w for spent, some in beams.items() if spent >= budget.low for w in some if w]
    return sorted(found, key=lambda words: -ctc_log_prob(frames, words, blank=blank))


def test_compiled_prefix_beam_is_the_slow_one():
    rng = np.random.default_rng(77)
    for size in (1, 3, 8):
        frames = rng.normal(size=(14, 9)) * 1.5
        frames -= np.logaddexp.reduce(frames, axis=1, keepdims=True)
        options = {"unit_cost": rng.integers(0, 3, size=9), "budget": LengthBudget(min=2, max=6)}
        expected = slow_prefix_beam(frames, 4, beam_size=size, n_labels=5, **options)
        found = ctc_decode(
            frames,
            blank=4,
            method="prefix-beam",
            beam_size=size,
            labels_per_frame=5,
            n_best=50,
            **options,
        )
        assert [item.words for item in found] == expected[:50]


def test_string_probability_is_the_sum_over_alignments():
    rng = np.random.default_rng(74)
    for _ in range(60):
        frames, blank = random_frames(rng)
        for words, total in oracles.enumerate_ctc(frames, blank)[0].items():
            found = ctc_log_prob(frames, words, blank=blank)
            if total == -math.inf:
                assert found == -math.inf
            else:
                assert found == pytest.approx(total, abs=1e-9)


def test_summing_alignments_can_beat_the_best_single_one():
    frames = np.log([[0.4, 0.35, 0.25], [0.4, 0.35, 0.25], [0.4, 0.3, 0.3]])
    options = {"blank": 0, "unit_cost": [0, 1, 1], "budget": LengthBudget(max=3)}
    alignment = ctc_decode(frames, **options).best
    summed = ctc_decode(frames, method="prefix-beam", **options).best
    assert summed.log_prob >= alignment.log_prob


def test_looking_at_few_labels_first_never_changes_the_best_alignment():
    rng = np.random.default_rng(76)
    for _ in range(400):
        n_labels = int(rng.integers(4, 30))
        frames = rng.normal(size=(int(rng.integers(2, 7)), n_labels))
        frames -= np.logaddexp.reduce(frames, axis=1, keepdims=True)
        options = {
            "blank": int(rng.integers(n_labels)),
            "unit_cost": rng.integers(0, 3, size=n_labels),
            "first_cost": rng.integers(0, 3, size=n_labels),
            "budget": random_budget(rng, 5),
            "bonus": float(rng.choice([0.0, 0.6])),
        }
        try:
            full = ctc_decode(frames, **options).best
        except InfeasibleBudgetError:
            with pytest.raises(InfeasibleBudgetError):
                ctc_decode(frames, labels_per_frame=1, **options)
            continue
        part = ctc_decode(frames, labels_per_frame=1, **options).best
        assert part.score == pytest.approx(full.score, abs=1e-9)
        assert part.optimal


def test_few_labels_are_enough_where_frames_are_sure(monkeypatch):
    """One look at a few labels, so the stand-ins do not send every text to the slow way."""
    from sumfit.decoding.methods import ctc

    looks = []
    align = ctc._align
    monkeypatch.setattr(ctc, "_align", lambda *args: looks.append(args[0].shape) or align(*args))
    rng = np.random.default_rng(75)
    frames = rng.normal(size=(12, 500))
    frames[np.arange(12), rng.integers(500, size=12)] += 7.0
    frames[:, 0] += 6.0
    frames -= np.logaddexp.reduce(frames, axis=1, keepdims=True)
    costs = np.ones(500, int)
    ctc_decode(frames, blank=0, unit_cost=costs, budget=LengthBudget(exact=5), labels_per_frame=6)
    assert len(looks) == 1
    assert looks[0][1] < 80


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"log_probs": np.zeros((2, 2, 2))}, GraphError, r"log_probs must be \(T, V\)"),
        ({"log_probs": [[np.nan, 0.0]]}, GraphError, "log_probs holds NaN"),
        ({"log_probs": [[0.0, 0.0]]}, GraphError, "a frame of log_probs sums to 2 as prob"),
        ({"blank": 7}, GraphError, r"blank must be a label 0\.\.1, was 7"),
        ({"unit_cost": [1]}, BudgetError, r"unit_cost must be \(V,\) = \(2,\), was \(1,\)"),
        ({"method": "best"}, ConfigError, "method must be one of alignment, prefix-beam, was 'b"),
        (
            {"budget": LengthBudget(exact=9)},
            InfeasibleBudgetError,
            "no string of 2 frames costs exactly 9",
        ),
    ],
)
def test_unusable_input_is_one_clear_error(changes, error, message):
    arguments = {
        "log_probs": np.log([[0.5, 0.5], [0.5, 0.5]]),
        "blank": 0,
        "unit_cost": [1, 1],
        "budget": LengthBudget(max=2),
    } | changes
    with pytest.raises(error, match=message):
        ctc_decode(arguments.pop("log_probs"), **arguments)
