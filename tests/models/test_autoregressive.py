"""The autoregressive networks: no row sees a later one, and steps with a cache are the whole."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sumfit.errors import ConfigError
from sumfit.models import DATConfig
from sumfit.models.autoregressive import Autoregressive, LengthInformed
from sumfit.models.config import BOS, EOS, MASK

CONFIG = DATConfig(
    vocab_size=20,
    width=16,
    n_heads=2,
    n_link_heads=2,
    ffn_width=24,
    n_encoder_layers=2,
    n_decoder_layers=2,
    max_source_tokens=16,
    min_vertices=4,
    max_vertices=12,
    n_limit_buckets=5,
    dropout=0.1,
)
SOURCES = torch.tensor([[5, 6, 7, 8, 9, 10], [11, 12, 13, 0, 0, 0]])


def network(kind: type[Autoregressive]) -> Autoregressive:
    """A network whose weights are large enough for every part to matter."""
    torch.manual_seed(0)
    model = kind(CONFIG).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * 0.3)
    if isinstance(model, LengthInformed):
        cost = np.arange(20, dtype=np.int32) % 2
        model.set_word_costs(cost, np.ones(20, dtype=np.int32))
    return model


@pytest.mark.parametrize("kind", [Autoregressive, LengthInformed])
def test_no_place_sees_a_later_word(kind: type[Autoregressive]) -> None:
    model = network(kind)
    told = torch.tensor([4, 4])
    ids = torch.tensor([[BOS, 5, 6, 7, 8], [BOS, 9, 10, 11, 12]])
    changed = ids.clone()
    changed[:, 3:] = 15
    with torch.no_grad():
        memory = model.encode(SOURCES)
        before, after = (model.decode(words, *memory, told) for words in (ids, changed))
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3], after[:, 3])


@pytest.mark.parametrize("kind", [Autoregressive, LengthInformed])
def test_steps_with_a_cache_are_the_whole_computation(kind: type[Autoregressive]) -> None:
    model = network(kind)
    n_words = torch.tensor([3, 2])
    ids = torch.tensor([[BOS, 5, 6, 7, 9, 8], [BOS, 9, 10, 11, 12, 13]])
    with torch.no_grad():
        memory, mask = model.encode(SOURCES)
        whole = model.decode(ids, memory, mask, n_words)
        cache = model.start(memory, mask, n_hypotheses=3)
        left = n_words[:, None].repeat(1, 3)
        for place in range(ids.shape[1]):
            words = ids[:, place, None].expand(-1, 3)
            if place and isinstance(model, LengthInformed):
                left = left - model.word_cost[1 if place == 1 else 0][words]
            states = model.step(words, cache, left)
            for hypothesis in range(3):
                torch.testing.assert_close(states[:, hypothesis], whole[:, place])


def test_hypotheses_go_on_from_their_parents_and_done_texts_leave() -> None:
    model = network(Autoregressive)
    histories = torch.tensor([[[BOS, 5], [BOS, 6]], [[BOS, 7], [BOS, 8]]])
    with torch.no_grad():
        memory, mask = model.encode(SOURCES)
        cache = model.start(memory, mask, n_hypotheses=2)
        for place in range(2):
            model.step(histories[:, :, place], cache)
        cache.reorder_(torch.tensor([[1, 1], [0, 1]]))
        cache.keep_(torch.tensor([1]))
        states = model.step(torch.tensor([[9, 10]]), cache)
        for hypothesis, words in enumerate(([BOS, 7, 9], [BOS, 8, 10])):
            whole = model.decode(torch.tensor([words]), memory[1:], mask[1:])
            torch.testing.assert_close(states[0, hypothesis], whole[0, 2])


def test_words_left_count_down_and_stay_in_the_table() -> None:
    model = network(LengthInformed)
    assert isinstance(model, LengthInformed)
    ids = torch.tensor([[6, 7, 8, 9, 0], [7, 0, 0, 0, 0]])
    assert model.count_words(ids).tolist() == [[1, 2, 2, 3, 3], [1, 1, 1, 1, 1]]
    with torch.no_grad():
        embedded = model.embed(torch.tensor([[BOS, 6, 7, 8, 9]]), torch.tensor([2]))
        left = torch.stack(
            [embedded[0, i] - model.embedding.weight[w] for i, w in enumerate([BOS, 6, 7, 8, 9])]
        )
    torch.testing.assert_close(left, model.left.weight[[2, 1, 0, 0, 0]])
    most = model.embed_left(torch.tensor([[5]]), torch.tensor([[1000]]))
    torch.testing.assert_close(most[0, 0], model.embedding.weight[5] + model.left.weight[4])


def test_the_length_changes_what_is_said() -> None:
    model = network(LengthInformed)
    ids = torch.tensor([[BOS, 5], [BOS, 5]])
    with torch.no_grad():
        states = model.decode(ids, *model.encode(SOURCES[[0, 0]]), torch.tensor([1, 4]))
    assert not torch.allclose(states[0], states[1])
    with pytest.raises(ConfigError, match="n_limit_buckets of at least 2, was 0"):
        LengthInformed(DATConfig.from_dict({**CONFIG.to_dict(), "n_limit_buckets": 0}))


def test_word_probabilities_leave_out_what_is_never_said() -> None:
    model = network(Autoregressive)
    logp = model.word_logp(torch.randn(3, CONFIG.width))
    assert logp[:, [0, BOS, MASK]].eq(-torch.inf).all()
    assert logp[:, EOS].isfinite().all()
    assert (logp.exp().sum(dim=1) <= 1 + 1e-6).all()
