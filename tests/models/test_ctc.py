"""The CTC network: slots stand for the source in order, and no item depends on its batch."""

from __future__ import annotations

import pytest
import torch

from sumfit.losses.ctc import ctc_objective
from sumfit.models import DATConfig
from sumfit.models.ctc import BLANK, CTC, spread
from sumfit.models.dat import vertex_mask

CONFIG = DATConfig(
    vocab_size=30,
    width=16,
    n_heads=2,
    n_link_heads=2,
    ffn_width=32,
    n_encoder_layers=1,
    n_decoder_layers=2,
    max_source_tokens=12,
    min_vertices=8,
    max_vertices=16,
    dropout=0.0,
)
SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 10, 11, 12, 13], [10, 11, 12, 0, 0, 0, 0, 0, 0, 0]])
MASK = vertex_mask(torch.tensor([10, 8]), 10)


@pytest.fixture
def model() -> CTC:
    torch.manual_seed(0)
    return CTC(CONFIG)


def make_batch() -> dict[str, torch.Tensor]:
    target = torch.tensor([[4, 9, 9, 8], [10, 12, 0, 0]])
    return {
        "source_ids": SOURCE,
        "target_ids": target,
        "n_vertices": torch.tensor([10, 8]),
        "vertex_mask": MASK,
    }


def test_slots_take_the_tokens_in_order_and_equally_often() -> None:
    places = spread(torch.tensor([10, 3, 4]), vertex_mask(torch.tensor([10, 8, 8]), 10))
    assert places[0].tolist() == list(range(10))
    assert places[1, :8].tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert places[2, :8].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert int(places[1:, 8:].max()) <= 3
    fewer = spread(torch.tensor([10]), vertex_mask(torch.tensor([5]), 5))
    assert fewer.tolist() == [[0, 2, 4, 6, 8]]


def test_labels_are_the_pieces_and_the_blank(model: CTC) -> None:
    with torch.no_grad():
        label_logp = model(SOURCE, MASK)
    assert label_logp.dtype == torch.float32
    assert label_logp[..., :BLANK].isneginf().all()
    assert label_logp[..., BLANK:].isfinite().all()
    torch.testing.assert_close(label_logp.exp().sum(-1), torch.ones(2, 10))


def test_an_item_does_not_depend_on_its_batch(model: CTC) -> None:
    with torch.no_grad():
        together = model(SOURCE, MASK)
        alone = model(SOURCE[1:, :3], MASK[1:, :8])
    torch.testing.assert_close(together[1:, :8], alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_a_few_steps_fit_two_pairs(model: CTC, label_smoothing: float) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(100):
        out = ctc_objective(model, make_batch(), blank=BLANK, label_smoothing=label_smoothing)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
    final = ctc_objective(model, make_batch(), blank=BLANK)
    assert int(final.n_tokens) == 6
    assert float(final.nll_sum / final.n_tokens) < 0.5


def test_without_smoothing_the_loss_is_nll_per_word_and_adds_up(model: CTC) -> None:
    batch = make_batch()
    whole = ctc_objective(model, batch, blank=BLANK)
    assert whole.loss.item() == pytest.approx((whole.nll_sum / whole.n_tokens).item(), rel=1e-6)
    parts = [
        ctc_objective(model, {k: v[i : i + 1] for k, v in batch.items()}, blank=BLANK)
        for i in range(2)
    ]
    assert sum(part.nll_sum.item() for part in parts) == pytest.approx(
        whole.nll_sum.item(), rel=1e-5
    )


def test_smoothing_adds_the_mean_over_real_slots_and_labels(model: CTC) -> None:
    batch = {key: value[1:] for key, value in make_batch().items()}
    plain = ctc_objective(model, batch, blank=BLANK).loss
    smooth = ctc_objective(model, batch, blank=BLANK, label_smoothing=0.25).loss
    with torch.no_grad():
        uniform = -model(batch["source_ids"], batch["vertex_mask"])[0, :8, BLANK:].mean()
    assert smooth.item() == pytest.approx((0.75 * plain + 0.25 * uniform).item(), rel=1e-4)


def test_a_target_that_needs_more_slots_is_counted_and_left_out(model: CTC) -> None:
    batch = make_batch()
    batch["n_vertices"] = torch.tensor([4, 8])  # four words, but two equal ones need a blank
    out = ctc_objective(model, batch, blank=BLANK, label_smoothing=0.1)
    assert out.is_finite.tolist() == [False, True]
    assert (int(out.n_nonfinite), int(out.n_items), int(out.n_tokens)) == (1, 1, 2)
    out.loss.backward()
    grads = [p.grad for p in model.parameters()]
    assert all(grad is not None and grad.isfinite().all() for grad in grads)


def test_every_weight_learns_under_autocast(model: CTC) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = ctc_objective(model, make_batch(), blank=BLANK, label_smoothing=0.1)
    assert out.loss.dtype == torch.float32
    out.loss.backward()
    without = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert without == []
