"""The BERT-CRF network and its objective: slots, candidates, labellings of whole items."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from sumfit.baselines.bert_crf import best_labels
from sumfit.losses.crf import crf_objective
from sumfit.models import DATConfig
from sumfit.models.bert_crf import END, BertCRF
from sumfit.models.config import BOS
from sumfit.models.dat import vertex_mask

CONFIG = DATConfig(
    vocab_size=30,
    width=16,
    n_heads=2,
    n_link_heads=2,
    ffn_width=32,
    n_encoder_layers=1,
    n_decoder_layers=1,
    max_source_tokens=12,
    min_vertices=6,
    max_vertices=8,
    transition_rank=4,
    n_candidates=8,
    dropout=0.0,
)
SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 10, 11, 12, 13], [10, 11, 12, 0, 0, 0, 0, 0, 0, 0]])
MASK = vertex_mask(torch.tensor([8, 6]), 8)


@pytest.fixture
def model() -> BertCRF:
    torch.manual_seed(0)
    return BertCRF(CONFIG)


def make_batch() -> dict[str, torch.Tensor]:
    return {
        "source_ids": SOURCE,
        "target_ids": torch.tensor([[4, 9, 9, 8], [10, 12, 0, 0]]),
        "n_vertices": torch.tensor([8, 6]),
        "vertex_mask": MASK,
    }


def objective(model: BertCRF, batch: dict[str, torch.Tensor], **options: float):
    n_candidates = int(options.pop("n_candidates", CONFIG.n_candidates))
    return crf_objective(model, batch, end=END, n_candidates=n_candidates, **options)


def test_an_item_does_not_depend_on_its_batch(model: BertCRF) -> None:
    with torch.no_grad():
        together = model.slots(SOURCE, MASK)
        short = model.slots(SOURCE[1:, :3], MASK[1:, :6])
        long = model.slots(SOURCE[:1], MASK[:1])
    torch.testing.assert_close(together[1:, :6], short, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(together[:1], long, rtol=1e-4, atol=1e-5)


def test_slots_beyond_a_short_source_differ(model: BertCRF) -> None:
    with torch.no_grad():
        states = model.slots(SOURCE[1:, :3], MASK[1:, :6])[0]
    assert (states[3] - states[4]).abs().max() > 1e-3


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_a_few_steps_fit_two_pairs(model: BertCRF, label_smoothing: float) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(80):
        out = objective(model, make_batch(), label_smoothing=label_smoothing)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
    final = objective(model, make_batch())
    assert float(final.nll_sum / final.n_tokens) < 0.3
    found = best_labels(model.eval(), SOURCE, MASK)
    assert [item.words for item in found] == [[4, 9, 9, 8], [10, 12]]
    assert all(-1.5 < item.log_prob <= 0 for item in found)


def test_with_all_labels_the_field_is_the_enumerated_one(model: BertCRF) -> None:
    """Three slots, four labels: -log P over every labelling in which nothing follows the end."""
    config = DATConfig.from_dict(CONFIG.to_dict() | {"vocab_size": 7, "min_vertices": 3})
    small = BertCRF(config)
    source, mask = torch.tensor([[4, 5, 6]]), torch.ones(1, 3, dtype=torch.bool)
    batch = {
        "source_ids": source,
        "target_ids": torch.tensor([[5, 4]]),
        "n_vertices": torch.tensor([3]),
        "vertex_mask": mask,
    }
    with torch.no_grad():
        emission = small.logits(small.slots(source, mask))[0]
        pair = small.leaving.weight @ small.entering.weight.T
        scores = {}
        for labels in itertools.product(range(END, 7), repeat=3):
            ends = [label == END for label in labels]
            if any(ends[i] and not ends[i + 1] for i in range(2)):
                continue
            before = (BOS, *labels[:-1])
            scores[labels] = sum(
                emission[slot, label] + pair[old, label]
                for slot, (old, label) in enumerate(zip(before, labels, strict=True))
            )
        total = torch.stack(list(scores.values())).logsumexp(0)
        out = objective(small, batch, n_candidates=4, slot_weight=0.0)
        found = best_labels(small, source, mask)[0]
    assert out.nll_sum.item() == pytest.approx((total - scores[(5, 4, END)]).item(), abs=1e-4)
    full = {labels: score for labels, score in scores.items() if labels[0] != END}
    best = max(full, key=lambda labels: full[labels])
    assert found.words == [label for label in best if label != END]
    assert found.score == pytest.approx(full[best].item(), abs=1e-4)
    kept = torch.stack(list(full.values())).logsumexp(0)
    assert found.log_prob == pytest.approx((full[best] - kept).item(), abs=1e-4)


def test_loss_by_slots_is_cross_entropy_and_unlikelihood_of_neighbours(model: BertCRF) -> None:
    batch = {key: value[1:] for key, value in make_batch().items()}
    plain = objective(model, batch, slot_weight=0.0)
    out = objective(model, batch, slot_weight=0.5, window=1)
    with torch.no_grad():
        logits = model.logits(model.slots(batch["source_ids"], batch["vertex_mask"]))[0]
        logp = logits[:, END:].log_softmax(-1)
    labels = [10, 12, END, END]
    expected = 0.0
    for slot, label in enumerate(labels):
        expected -= logp[slot, label - END].item()
        for near in (slot - 1, slot + 1):
            if 0 <= near < 4 and labels[near] != label:
                expected -= math.log1p(-math.exp(logp[slot, labels[near] - END].item()))
    difference = (out.loss - plain.loss) * out.n_tokens
    assert difference.item() == pytest.approx(0.5 * expected, rel=1e-4)
    assert out.nll_sum.item() == pytest.approx(plain.nll_sum.item())


def test_a_target_longer_than_the_slots_is_counted_and_left_out(model: BertCRF) -> None:
    batch = make_batch()
    batch["vertex_mask"] = vertex_mask(torch.tensor([3, 6]), 8)
    out = objective(model, batch)
    assert out.is_finite.tolist() == [False, True]
    assert (int(out.n_nonfinite), int(out.n_tokens)) == (1, 2)
    out.loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_every_weight_learns_under_autocast(model: BertCRF) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = objective(model, make_batch(), label_smoothing=0.1)
    assert out.loss.dtype == torch.float32
    out.loss.backward()
    without = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert without == []


def test_a_summary_is_never_empty(model: BertCRF) -> None:
    with torch.no_grad():
        model.embedding.weight[END] += 3 * model.slots(SOURCE, MASK)[0, 0]
    assert all(item.words for item in best_labels(model.eval(), SOURCE, MASK))
