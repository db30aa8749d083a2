"""On a GPU every system's loss is that of the CPU, and nothing in it waits for the device."""

from __future__ import annotations

import pytest
import torch

from sumfit.models import DATConfig
from sumfit.models.config import SYSTEMS
from sumfit.models.network import build_network
from sumfit.training.systems import LossOptions, get_system

pytestmark = pytest.mark.gpu
CONFIG = DATConfig(
    vocab_size=500,
    width=64,
    n_heads=2,
    n_link_heads=2,
    ffn_width=96,
    n_encoder_layers=1,
    n_decoder_layers=2,
    max_source_tokens=48,
    min_vertices=16,
    max_vertices=48,
    n_limit_buckets=8,
    dropout=0.0,
)


def make_batch() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    n_source = torch.tensor([[40], [31], [17], [22]])
    n_target = torch.tensor([[12], [9], [3], [1]])
    source = torch.randint(4, 500, (4, 40), generator=generator)
    target = torch.randint(4, 500, (4, 12), generator=generator)
    n_vertices = torch.tensor([CONFIG.n_vertices(int(n)) for n in n_source])
    return {
        "source_ids": source.masked_fill(torch.arange(40) >= n_source, 0),
        "target_ids": target.masked_fill(torch.arange(12) >= n_target, 0),
        "n_vertices": n_vertices,
        "vertex_mask": torch.arange(40) < n_vertices[:, None],
    }


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_loss_is_that_of_the_cpu_and_does_not_wait(name: str) -> None:
    torch.manual_seed(0)
    network = build_network(name, CONFIG)
    system, batch = get_system(name), make_batch()
    options = LossOptions(label_smoothing=0.1)
    expected = system.loss(network, batch, options)
    network = network.cuda()
    on_device = {key: values.cuda() for key, values in batch.items()}
    with torch.autocast("cuda", dtype=torch.bfloat16):
        system.loss(network, on_device, options).loss.backward()  # kernels are compiled here
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = system.loss(network, on_device, options)
        out.loss.backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert out.loss.item() == pytest.approx(expected.loss.item(), rel=2e-2)
    assert out.n_tokens.item() == expected.n_tokens.item()


@pytest.mark.parametrize("name", ["at", "at-leninfo"])
def test_beam_search_finds_on_the_gpu_what_it_finds_on_the_cpu(name: str) -> None:
    from sumfit.baselines.beam_search import beam_search

    torch.manual_seed(0)
    network = build_network(name, CONFIG).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(torch.randn_like(weights) * 0.3)
    sources = make_batch()["source_ids"]
    n_words = torch.tensor([5, 4, 3, 2]) if name == "at-leninfo" else None
    expected = beam_search(network, sources, n_words=n_words)
    on_device = None if n_words is None else n_words.cuda()
    found = beam_search(network.cuda(), sources.cuda(), n_words=on_device)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours[0].score == pytest.approx(theirs[0].score, abs=1e-3)


@pytest.mark.parametrize("name", ["ctc", "bert-crf"])
def test_slot_models_label_on_the_gpu_as_on_the_cpu(name: str) -> None:
    from sumfit.baselines.bert_crf import best_labels
    from sumfit.models.bert_crf import BertCRF
    from sumfit.models.ctc import CTC

    torch.manual_seed(0)
    network = build_network(name, CONFIG).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(torch.randn_like(weights) * 0.3)
    batch = make_batch()
    sources, mask = batch["source_ids"], batch["vertex_mask"]
    if isinstance(network, CTC):
        with torch.no_grad():
            expected = network(sources, mask)
            found = network.cuda()(sources.cuda(), mask.cuda())
        torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-3)
    elif isinstance(network, BertCRF):
        labellings = best_labels(network, sources, mask)
        for ours, theirs in zip(
            best_labels(network.cuda(), sources.cuda(), mask.cuda()), labellings, strict=True
        ):
            assert ours.score == pytest.approx(theirs.score, rel=1e-4, abs=1e-2)
            assert ours.log_prob == pytest.approx(theirs.log_prob, rel=1e-3, abs=1e-2)
