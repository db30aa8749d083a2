"""The torch backend: the network's own graphs, whatever shares the batch."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sumfit import Summarizer
from sumfit.decoding import decode
from sumfit.errors import ConfigError, InfeasibleBudgetError
from sumfit.hypothesis import NBest
from sumfit.length import LengthBudget, unit_costs
from sumfit.runtime import GraphRequest, ModelDirectory, load_backend

torch = pytest.importorskip("torch", reason="needs sumfit[train]")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> ModelDirectory:
    """A small DAT with weights by formula, saved as training saves it."""
    from sumfit.models import DAT, DATConfig
    from sumfit.models.checkpoint import save_model

    tiny = ModelDirectory.open(tiny_model)
    config = DATConfig(
        vocab_size=tiny.tokenizer.vocab_size,
        width=32,
        n_heads=4,
        n_link_heads=4,
        ffn_width=64,
        n_encoder_layers=1,
        n_decoder_layers=1,
        max_source_tokens=64,
        max_vertices=64,
    )
    network = DAT(config)
    with torch.no_grad():
        for number, weights in enumerate(network.parameters()):
            values = torch.sin(torch.arange(weights.numel()) * (number + 1.7)) / 4
            weights.copy_(values.view_as(weights))
    directory = tmp_path_factory.mktemp("models") / "dat"
    fields = {
        "name": "formula",
        "tokenizer_sha256": tiny.tokenizer.fingerprint,
        "words_per_vertex": 4,
    }
    save_model(network, directory, fields=fields)
    tiny.tokenizer.save(directory / "tokenizer.json")
    return ModelDirectory.open(directory)


def requests(model: ModelDirectory, texts: tuple[str, ...]) -> list[GraphRequest]:
    return [
        GraphRequest(tuple(model.tokenizer.encode(text)), 32 + 3 * i)
        for i, text in enumerate(texts)
    ]


def test_graphs_are_the_networks(model: ModelDirectory, texts: tuple[str, ...]) -> None:
    from sumfit.models.checkpoint import load_model

    backend = load_backend(model, backend="torch", device="cpu")
    assert backend.name == "torch-cpu-fp32"
    wanted = requests(model, texts)
    network = load_model(model.path)
    for request, dag in zip(wanted, backend.graphs(wanted), strict=True):
        dag.validate()
        ids = torch.tensor([request.source_ids])
        with torch.inference_mode():
            words, links = network(ids, torch.ones(1, request.n_vertices, dtype=torch.bool))
        np.testing.assert_allclose(
            dag.word_logp[1:-1], words[0, 1:-1][:, dag.word_ids].numpy(), atol=2e-5
        )
        np.testing.assert_allclose(dag.link_logp, links[0].numpy(), atol=2e-5)


def test_a_graph_hardly_depends_on_its_batch(model: ModelDirectory, texts: tuple[str, ...]) -> None:
    backend = load_backend(model, backend="torch", device="cpu")
    wanted = requests(model, texts)
    for one, two in zip(
        backend.graphs(wanted),
        [backend.graphs([request])[0] for request in wanted],
        strict=True,
    ):
        np.testing.assert_array_equal(one.word_ids, two.word_ids)
        np.testing.assert_allclose(one.word_logp, two.word_logp, atol=2e-5)
        np.testing.assert_allclose(one.link_logp, two.link_logp, atol=2e-5)


def test_large_calls_are_cut(
    model: ModelDirectory, texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sumfit.runtime.torch as module

    backend = load_backend(model, backend="torch", device="cpu")
    wanted = requests(model, texts)
    whole = backend.graphs(wanted)
    monkeypatch.setattr(module, "_MOST_BYTES", 1)
    for one, two in zip(whole, backend.graphs(wanted), strict=True):
        np.testing.assert_allclose(one.word_logp, two.word_logp, atol=2e-5)


def test_calls_hold_graphs_that_are_padded_alike(model: ModelDirectory) -> None:
    backend = load_backend(model, backend="torch", device="cpu")
    sizes = [32, 60, 34, 35, 64, 33]
    wanted = [GraphRequest((5, 6), size) for size in sizes]
    called = list(backend._calls(wanted, 2))
    assert [[sizes[place] for place in places] for places in called] == [
        [64, 60],
        [35],
        [34, 33],
        [32],
    ]
    assert len(list(backend._calls(wanted))) == 2


@pytest.mark.parametrize("most_bytes", [1 << 29, 1])
def test_sequences_are_those_of_the_graphs(
    model: ModelDirectory,
    texts: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    most_bytes: int,
) -> None:
    import sumfit.runtime.torch as module
    from sumfit.decoding.device.batch import DeviceCosts

    monkeypatch.setattr(module, "_MOST_BYTES", most_bytes)
    backend = module.TorchBackend(model, device="cpu")
    wanted = requests(model, texts)
    costs = unit_costs(model.tokenizer, "chars")
    budgets = [LengthBudget(max=20 + 4 * number) for number in range(len(texts))]
    budgets[1] = LengthBudget(min=10_000, max=10_001)
    found = backend.sequences(
        wanted,
        costs=DeviceCosts(costs.cost, costs.first_cost, device="cpu"),
        budgets=budgets,
        bonus=0.5,
        unit_bonus=0.1,
        n_best=2,
    )
    assert isinstance(found[1], InfeasibleBudgetError)
    for number, (dag, budget) in enumerate(zip(backend.graphs(wanted), budgets, strict=True)):
        if number == 1:
            continue
        alone = decode(
            dag,
            unit_cost=costs.cost,
            first_cost=costs.first_cost,
            budget=budget,
            method="seqmap-beam",
            bonus=0.5,
            unit_bonus=0.1,
            n_best=2,
            words_per_vertex=None,
        )
        ours = found[number]
        assert isinstance(ours, NBest)
        assert [one.words for one in ours] == [one.words for one in alone]
        for one, other in zip(ours, alone, strict=True):
            assert math.isclose(one.score, other.score, abs_tol=1e-4)
            assert one.cost == other.cost
            assert one.optimal == other.optimal


def test_a_summarizer_uses_it_in_batches(model: ModelDirectory, texts: tuple[str, ...]) -> None:
    fit = Summarizer.from_pretrained(model.path, backend="torch", device="cpu", n_workers=2)
    keywords = {"max_chars": 40, "constraints": False}
    together = fit([*texts, ""], batch_size=3, **keywords)
    for text, summary in zip(texts, together, strict=False):
        alone = fit(text, **keywords)
        assert summary.text == alone.text
        assert math.isclose(summary.log_prob, alone.log_prob, abs_tol=1e-3)
    assert type(together[-1].error).__name__ == "EmptyInputError"


def test_unknown_choices(model: ModelDirectory) -> None:
    with pytest.raises(ConfigError, match=r"device='warp' cannot be used here \("):
        load_backend(model, backend="torch", device="warp")
    with pytest.raises(ConfigError, match=r"precision must be .* with backend='torch', was 'int8'"):
        load_backend(model, backend="torch", precision="int8")
