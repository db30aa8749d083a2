"""The loss of the next word is what torch's own cross-entropy says, padding left out."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from sumfit.losses.autoregressive import next_word_loss
from sumfit.models import DATConfig
from sumfit.models.autoregressive import Autoregressive
from sumfit.models.config import BOS, EOS

CONFIG = DATConfig(
    vocab_size=20,
    width=16,
    n_heads=2,
    n_link_heads=2,
    ffn_width=24,
    n_encoder_layers=1,
    n_decoder_layers=1,
    max_source_tokens=16,
    min_vertices=4,
    max_vertices=7,
    dropout=0.0,
)


@pytest.fixture
def model() -> Autoregressive:
    torch.manual_seed(0)
    return Autoregressive(CONFIG)


def batch() -> dict[str, torch.Tensor]:
    return {
        "source_ids": torch.tensor([[5, 6, 7, 8], [9, 10, 0, 0]]),
        "target_ids": torch.tensor([[5, 6, 7, 8], [9, 0, 0, 0]]),
    }


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_loss_is_the_cross_entropy_of_words_and_end(model: Autoregressive, smoothing) -> None:
    out = next_word_loss(model, batch(), label_smoothing=smoothing)
    ids = torch.tensor([[BOS, 5, 6, 7, 8], [BOS, 9, 0, 0, 0]])
    labels = torch.tensor([[5, 6, 7, 8, EOS], [9, EOS, -100, -100, -100]])
    hidden = model.decode(ids, *model.encode(batch()["source_ids"]))
    logits = (hidden @ model.embedding.weight.T)[..., EOS:]  # pad and start are impossible
    wanted = torch.where(labels == -100, labels, labels - EOS).flatten()
    sums = [
        F.cross_entropy(logits.flatten(0, 1), wanted, reduction="sum", label_smoothing=e)
        for e in (smoothing, 0.0)
    ]
    assert out.n_tokens == 5
    assert out.n_items == 2
    torch.testing.assert_close(out.loss * 5, sums[0])
    torch.testing.assert_close(out.nll_sum, sums[1])
    ours = torch.autograd.grad(out.loss * 5, list(model.parameters()), allow_unused=True)
    theirs = torch.autograd.grad(sums[0], list(model.parameters()), allow_unused=True)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-6)


def test_padding_does_not_change_the_loss_even_beyond_the_last_position(model) -> None:
    plain = next_word_loss(model, batch())
    padded = {name: F.pad(ids, (0, 9)) for name, ids in batch().items()}
    torch.testing.assert_close(next_word_loss(model, padded).loss, plain.loss)


def test_an_item_that_is_not_finite_is_left_out_and_counted(model: Autoregressive) -> None:
    def encode(source_ids):
        memory = torch.zeros(*source_ids.shape, CONFIG.width)
        return memory + torch.where(source_ids == 10, torch.nan, 0.0)[..., None], source_ids != 0

    model.encode = encode  # the second source alone holds a 10
    out = next_word_loss(model, batch(), label_smoothing=0.1)
    assert out.is_finite.tolist() == [True, False]
    assert (out.n_tokens, out.n_nonfinite) == (4, 1)
    assert out.loss.isfinite()
