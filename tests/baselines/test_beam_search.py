"""Beam search: exhaustive with a wide beam, probabilities exact, batch-mates without influence."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from sumfit.baselines.beam_search import beam_search
from sumfit.models import DATConfig
from sumfit.models.autoregressive import Autoregressive, LengthInformed
from sumfit.models.config import BOS, EOS

V, MOST = 8, 3
CONFIG = DATConfig(
    vocab_size=V,
    width=16,
    n_heads=2,
    n_link_heads=2,
    ffn_width=24,
    n_encoder_layers=1,
    n_decoder_layers=2,
    max_source_tokens=16,
    min_vertices=4,
    max_vertices=10,
    n_limit_buckets=6,
    dropout=0.0,
)
SOURCES = torch.tensor([[5, 6, 7, 4, 6, 5], [4, 4, 7, 0, 0, 0], [6, 5, 0, 0, 0, 0]])
N_WORDS = torch.tensor([4, 1, 2])


def network(kind: type[Autoregressive], seed: int = 0, scale: float = 0.5) -> Autoregressive:
    torch.manual_seed(seed)
    model = kind(CONFIG).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * scale)
    if isinstance(model, LengthInformed):
        model.set_word_costs(np.arange(V, dtype=np.int32) % 2, np.ones(V, dtype=np.int32))
    return model


@torch.no_grad()
def log_prob(model: Autoregressive, source, words, n_words) -> float:
    """Probability of words and end, from one pass without a cache."""
    ids = torch.tensor([[BOS, *words]])
    hidden = model.decode(ids, *model.encode(source[source != 0][None]), n_words[None])
    logp = model.word_logp(hidden)[0]
    return sum(float(logp[i, word]) for i, word in enumerate([*words, EOS]))


@pytest.mark.parametrize("kind", [Autoregressive, LengthInformed])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_wide_beam_is_exhaustive(kind, penalty) -> None:
    model = network(kind)
    real = range(4, V)
    n_all = sum(len(real) ** n for n in range(MOST + 1))
    found = beam_search(
        model,
        SOURCES,
        beam_size=n_all,
        length_penalty=penalty,
        max_pieces=MOST,
        n_words=N_WORDS if kind is LengthInformed else None,
    )
    for source, n_words, ours in zip(SOURCES, N_WORDS, found, strict=True):
        scores = {}
        for n in range(MOST + 1):
            for words in itertools.product(real, repeat=n):
                scores[words] = log_prob(model, source, words, n_words) / (n + 1) ** penalty
        assert {one.words for one in ours} == set(scores)
        ranked = sorted(scores.values(), reverse=True)
        np.testing.assert_allclose([one.score for one in ours], ranked, atol=1e-4)
        assert ours[0].score == pytest.approx(scores[ours[0].words], abs=1e-4)


@pytest.mark.parametrize("kind", [Autoregressive, LengthInformed])
@pytest.mark.parametrize("beam_size", [1, 2, 5])
def test_probabilities_are_those_of_the_whole_computation(kind, beam_size) -> None:
    for seed in range(3):
        model = network(kind, seed)
        n_words = N_WORDS if kind is LengthInformed else None
        found = beam_search(model, SOURCES, beam_size=beam_size, n_words=n_words)
        for source, n, ours in zip(SOURCES, N_WORDS, found, strict=True):
            assert 1 <= len(ours) <= 2 * beam_size
            assert len({one.words for one in ours}) == len(ours)
            for one in ours:
                assert one.log_prob == pytest.approx(
                    log_prob(model, source, one.words, n), abs=1e-4
                )
                assert one.score == pytest.approx(one.log_prob / (len(one.words) + 1))


def test_a_beam_of_one_is_greedy() -> None:
    model = network(Autoregressive, seed=4)
    for source, found in zip(SOURCES, beam_search(model, SOURCES, beam_size=1), strict=True):
        words: list[int] = []
        memory = model.encode(source[source != 0][None])
        while len(words) < CONFIG.max_vertices - 1:
            hidden = model.decode(torch.tensor([[BOS, *words]]), *memory)
            best = int(model.word_logp(hidden)[0, -1].argmax())
            if best == EOS:
                break
            words.append(best)
        assert list(found[0].words) == words


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_text_does_not_depend_on_its_batch(beam_size) -> None:
    model = network(LengthInformed, seed=1)
    together = beam_search(model, SOURCES, beam_size=beam_size, n_words=N_WORDS)
    for row in range(len(SOURCES)):
        source = SOURCES[row][SOURCES[row] != 0][None]
        alone = beam_search(model, source, beam_size=beam_size, n_words=N_WORDS[row : row + 1])
        assert [one.words for one in alone[0]] == [one.words for one in together[row]]


def test_no_summary_is_longer_than_allowed_or_than_the_network_has_positions() -> None:
    model = network(Autoregressive, scale=0.0)  # nearly uniform: ends are rare
    for most in (0, 2, 50):
        found = beam_search(model, SOURCES, beam_size=3, max_pieces=most, length_penalty=3.0)
        longest = max(len(one.words) for ours in found for one in ours)
        assert longest <= min(most, CONFIG.max_vertices - 1)
