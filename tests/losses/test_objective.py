"""The objective learns, counts what it cannot train on, and adds up over batches."""

from __future__ import annotations

import pytest
import torch

from sumfit.losses import objective
from sumfit.models import DAT, DATConfig

CONFIG = DATConfig(
    vocab_size=40,
    width=16,
    n_heads=2,
    n_link_heads=2,
    ffn_width=32,
    n_encoder_layers=1,
    n_decoder_layers=1,
    max_source_tokens=16,
    min_vertices=8,
    max_vertices=16,
    dropout=0.0,
)


def make_batch() -> dict[str, torch.Tensor]:
    source = torch.tensor([[4, 5, 6, 7, 8, 9], [10, 11, 12, 13, 0, 0], [20, 21, 22, 23, 24, 25]])
    target = torch.tensor([[4, 9, 8, 0], [10, 0, 0, 0], [30, 31, 32, 33]])
    return {
        "source_ids": source,
        "target_ids": target,
        "n_vertices": torch.tensor([8, 8, 8]),
    }


@pytest.fixture
def model() -> DAT:
    torch.manual_seed(0)
    return DAT(CONFIG)


@pytest.mark.parametrize(("glance_ratio", "label_smoothing"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.1)])
def test_a_few_steps_fit_three_pairs(
    model: DAT, glance_ratio: float, label_smoothing: float
) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(0)
    batch = make_batch()
    for _ in range(80):
        out = objective(
            model,
            batch,
            glance_ratio=glance_ratio,
            label_smoothing=label_smoothing,
            generator=generator,
        )
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
    final = objective(model, batch)
    assert float(final.nll_sum / final.n_tokens) < 0.5


def test_without_options_the_loss_is_nll_per_token_and_adds_up(model: DAT) -> None:
    batch = make_batch()
    whole = objective(model, batch)
    assert whole.loss.item() == pytest.approx((whole.nll_sum / whole.n_tokens).item(), rel=1e-6)
    assert int(whole.n_tokens) == 8
    parts = [objective(model, {k: v[i : i + 1] for k, v in batch.items()}) for i in range(3)]
    assert sum((p.loss * p.n_tokens).item() for p in parts) == pytest.approx(
        (whole.loss * whole.n_tokens).item(), rel=1e-5
    )


def test_padding_does_not_change_the_loss(model: DAT) -> None:
    batch = make_batch()
    padded = {
        "source_ids": torch.nn.functional.pad(batch["source_ids"], (0, 5)),
        "target_ids": torch.nn.functional.pad(batch["target_ids"], (0, 3)),
        "n_vertices": batch["n_vertices"],
        "vertex_mask": (torch.arange(15) < 8).expand(3, 15),
    }
    assert objective(model, padded).loss.item() == pytest.approx(
        objective(model, batch).loss.item(), rel=1e-5
    )


def test_target_longer_than_the_graph_is_named_counted_and_left_out(model: DAT) -> None:
    batch = make_batch()
    batch["n_vertices"] = torch.tensor([8, 8, 5])  # 3 inner vertices for 4 words
    out = objective(model, batch, label_smoothing=0.1, glance_ratio=0.5)
    assert out.is_finite.tolist() == [True, True, False]
    assert (int(out.n_nonfinite), int(out.n_items), int(out.n_tokens)) == (1, 2, 4)
    out.loss.backward()
    grads = {name: p.grad for name, p in model.named_parameters()}
    assert all(grad is not None and grad.isfinite().all() for grad in grads.values())


def test_ngram_stage_learns_and_has_its_weight(model: DAT) -> None:
    batch = make_batch()
    parts = [objective(model, batch, ngram_weight=w).loss.item() for w in (0.0, 0.5, 1.0)]
    assert parts[1] == pytest.approx((parts[0] + parts[2]) / 2, rel=1e-5)
    assert 0 < parts[2] < 1
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        objective(model, batch, ngram_weight=0.9).loss.backward()
        optimizer.step()
    assert objective(model, batch, ngram_weight=1.0).loss.item() < 0.3


def test_every_weight_learns_under_autocast_with_glancing(model: DAT) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = objective(model, make_batch(), glance_ratio=0.5, label_smoothing=0.1)
    out.loss.backward()
    without = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert without == []


def test_label_smoothing_moves_mass_to_other_words(model: DAT) -> None:
    """At the smoothed optimum of one certain path, words share e uniformly beside 1 - e."""
    batch = {key: value[:1] for key, value in make_batch().items()}
    batch["n_vertices"] = torch.tensor([5])  # three words on three inner vertices: one path
    batch["vertex_mask"] = torch.ones(1, 5, dtype=torch.bool)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(400):
        optimizer.zero_grad()
        objective(model, batch, label_smoothing=0.2).loss.backward()
        optimizer.step()
    with torch.no_grad():
        word_logp, _ = model(batch["source_ids"], batch["vertex_mask"])
    best = word_logp[0, 1:4].exp().gather(1, batch["target_ids"][0, :3, None])
    n_words = 36
    torch.testing.assert_close(best, torch.full((3, 1), 0.8 + 0.2 / n_words), atol=0.02, rtol=0)


def test_revealed_vertices_emit_their_word_alone_and_teach_nothing() -> None:
    from sumfit.losses.objective import _force

    match = torch.randn(1, 4, 3).requires_grad_()
    alignment = torch.tensor([[-1, 0, 2, -1]])
    revealed = torch.tensor([[False, False, True, False]])
    forced = _force(match, alignment, revealed)
    assert forced[0, :2].equal(match[0, :2])
    assert forced[0, 2].tolist() == [-torch.inf, -torch.inf, match[0, 2, 2].item()]
    forced[forced.isfinite()].sum().backward()
    assert match.grad is not None
    assert match.grad[0, 2].eq(0).all()
    assert match.grad[0, 1].eq(1).all()
