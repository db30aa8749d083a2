"""A DAT that is told its limit: trained, started, exported, and the same in every backend."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from sumfit import Summarizer
from sumfit.data.corpus import PackedCorpus
from sumfit.models import load_model
from sumfit.text import Tokenizer
from sumfit.training import export_model, load_recipe, train
from sumfit.training import loop as training_loop
from sumfit.training.rates import pieces_per_unit
from sumfit.training.systems.dat import DATSystem

TEXT = "Harbour workers in Arden said on Monday that the old bridge would be closed by the council"


def run(tiny_recipe, output, *words):
    recipe = load_recipe(tiny_recipe, [f"output_dir={output}", "run.max_steps=4", *words])
    return train(recipe, device="cpu")


@pytest.fixture(scope="module")
def told(tiny_recipe, tmp_path_factory):
    words = ["model.n_limit_buckets=40", "optimizer.lr=3e-2", "run.max_steps=12"]
    return run(tiny_recipe, tmp_path_factory.mktemp("told"), *words)


def test_the_statistic_is_that_of_the_targets(tiny_recipe):
    recipe = load_recipe(tiny_recipe)
    corpus = PackedCorpus.open(recipe.corpus, "train")
    tokenizer = Tokenizer.from_file(recipe.corpus / "tokenizer.json")
    items = np.arange(3, 40)
    texts = [tokenizer.decode(corpus.item(item)[1].tolist()) for item in items]
    n_pieces = corpus.target_lengths[3:40].sum()
    (rates,) = pieces_per_unit(corpus, tokenizer, items).values()
    assert rates["words"] == pytest.approx(n_pieces / len(" ".join(texts).split()), abs=1e-4)
    assert rates["bytes"] == pytest.approx(n_pieces / sum(map(len, texts)), abs=1e-4)
    assert "tokens" not in rates


def test_every_backend_predicts_the_same_under_a_limit(told, tmp_path):
    model = export_model(told.checkpoint, tmp_path / "m", keep_weights=True)
    config = json.loads((model / "config.json").read_text())
    assert config["pieces_per_unit"]["natural"]["words"] > 1
    options = ({"precision": "fp32"}, {"precision": "int8"}, {"backend": "torch", "device": "cpu"})
    onnx, int8, torched = (Summarizer.from_pretrained(model, **option) for option in options)
    graphs = {n: onnx.graph(TEXT, max_words=n) for n in (3, 9)}
    for n_words, graph in graphs.items():
        other = torched.graph(TEXT, max_words=n_words)
        np.testing.assert_allclose(graph.link_logp, other.link_logp, atol=2e-2)  # float16 weights
        near = int8.graph(TEXT, max_words=n_words)
        assert np.abs(np.exp(graph.link_logp) - np.exp(near.link_logp)).mean() < 0.01
    assert not np.allclose(graphs[3].link_logp, graphs[9].link_logp, atol=2e-2)


def test_buckets_that_the_start_lacks_begin_at_zero(tiny_recipe, tmp_path):
    first = run(tiny_recipe, tmp_path / "a")
    still = ["run.max_steps=1", "optimizer.lr=1e-30", f"start.model={first.best}"]
    told = run(tiny_recipe, tmp_path / "b", "model.n_limit_buckets=40", *still)
    assert told.scores["loss"] == pytest.approx(first.scores["loss"], rel=1e-4)
    limit = load_model(told.checkpoint).limit
    assert limit is not None
    assert float(limit.weight.detach().abs().max()) < 1e-20


def test_a_start_with_buckets_is_gone_on_with(told, tiny_recipe, tmp_path):
    still = ["run.max_steps=1", "optimizer.lr=1e-30", f"start.model={told.best}"]
    again = run(tiny_recipe, tmp_path, *still)
    one, two = load_model(told.best).limit, load_model(again.checkpoint).limit
    torch.testing.assert_close(one.weight, two.weight)


def test_validation_decodes_under_the_limit_that_is_told(tiny_recipe, tmp_path, monkeypatch):
    seen = []

    class Watched(DATSystem):
        def summarize(self, network, batch, tokenizer, budgets):
            seen.append((batch.limit_bucket, budgets))
            return super().summarize(network, batch, tokenizer, budgets)

    monkeypatch.setattr(training_loop, "get_system", lambda name: Watched())
    words = ["validation.n_rouge=4", "validation.words=6", "run.max_steps=1"]
    result = run(tiny_recipe, tmp_path / "told", "model.n_limit_buckets=40", *words)
    fields = json.loads((result.checkpoint / "config.json").read_text())
    rate = fields["pieces_per_unit"]["natural"]["words"]
    assert seen[0][0].tolist() == [round(6 * rate)] * len(seen[0][1])
    run(tiny_recipe, tmp_path / "untold", *words)
    assert seen[-1][0] is None
