"""Every system trains by the same loop: learns, resumes, validates, and is loaded as a baseline."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from sumfit.baselines import load_baseline
from sumfit.errors import ConfigError
from sumfit.length import measure
from sumfit.models.checkpoint import load_network
from sumfit.training import load_recipe, train
from sumfit.training.loader import to_tensors
from sumfit.training.systems import LossOptions, get_system

from .conftest import read_metrics

SYSTEMS = {
    "at": ["optimizer.lr=6e-3"],
    "at-leninfo": ["model.n_limit_buckets=16", "optimizer.lr=6e-3"],
    "ctc": ["model.min_vertices=16", "optimizer.lr=4e-3"],
    "bert-crf": ["model.min_vertices=16", "model.n_candidates=16", "optimizer.lr=4e-3"],
}
SLOTS = ("ctc", "bert-crf")  # write at places of the source: they learn to copy from few pairs
NAMES = "ann bob cid dee eve fay gus hal ida jim kay lou".split()
LEARNING = ["model.width=64", "model.n_heads=4", "model.ffn_width=96", "model.dropout=0.0"]
LEARNING += ["run.max_steps=300", "run.save_every=0", "run.log_every=20"]
LEARNING += ["optimizer.schedule=linear", "validation.n_rouge=16"]


def run(tiny_recipe, output, system, *words, **options):
    every = [f"output_dir={output}", f"system={system}", *SYSTEMS[system], *words]
    return train(load_recipe(tiny_recipe, every), device="cpu", **options)


def write_recipe(tiny_recipe, folder, *, n_pairs, make):
    """The tiny recipe on pairs of nine names and what `make` says of them."""
    rng = np.random.default_rng(0)
    for split, n in (("train", n_pairs), ("valid", 20)):
        with (folder / f"{split}.jsonl").open("w") as file:
            for _ in range(n):
                source, summary = make(rng.choice(NAMES, 9).tolist(), rng)
                file.write(json.dumps({"source": source, "summary": summary}) + "\n")
    text = re.sub(r'corpus = ".*"', f'corpus = "{folder}/corpus"', tiny_recipe.read_text())
    sets = f'train = "{folder}/train.jsonl"\nvalid = "{folder}/valid.jsonl"'
    path = folder / "names.toml"
    path.write_text(text.replace("n_synthetic = 160", sets))
    return path


def before_the_comma(words, rng):
    n_words = int(rng.integers(2, 6))
    summary = " ".join(words[:n_words])
    return f"{summary}, {' '.join(words[n_words:])}", summary


@pytest.fixture(scope="module")
def slot_recipe(tiny_recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slots")
    return write_recipe(tiny_recipe, folder, n_pairs=400, make=before_the_comma)


@pytest.fixture(scope="module", params=SYSTEMS)
def trained(request, tiny_recipe, slot_recipe, tmp_path_factory):
    """A system that has learned its task, the result of its training, and the recipe."""
    output = tmp_path_factory.mktemp(request.param)
    is_slots = request.param in SLOTS
    recipe = slot_recipe if is_slots else tiny_recipe
    words = [*LEARNING, f"validation.words={4 if is_slots else 12}"]
    return request.param, recipe, run(recipe, output, request.param, *words)


def sources(recipe):
    from sumfit.data.corpus import read_valid_texts

    return read_valid_texts(load_recipe(recipe).corpus)


def test_a_tiny_model_learns_the_task(trained):
    result = trained[2]
    records = read_metrics(result.checkpoint.parent)
    assert records[-1]["nll"] < 0.1 * records[0]["nll"]
    assert records[0]["glance"] == 0.0
    assert result.scores["loss"] < 0.3
    assert result.scores["rouge"] > 150


def test_a_trained_model_is_a_baseline_that_keeps_every_limit(trained):
    system, recipe, result = trained
    fit = load_baseline(result.best, device="cpu")
    assert fit.system == system
    texts = [pair.source for pair in sources(recipe)][:6]
    for limit in (3, 5, 12):
        for summary in fit(texts, max_words=limit, keep_short=False):
            assert summary.error is None
            assert 0 < measure(summary.text, "words") == summary.length <= limit
            assert summary.text_cut == np.isnan(summary.log_prob)
            assert not (summary.text_cut and system == "ctc")


def test_a_resumed_run_gives_the_same_weights(trained, tmp_path):
    system, recipe, _ = trained
    run(recipe, tmp_path / "whole", system, "run.max_steps=4")
    run(recipe, tmp_path / "parts", system, "run.max_steps=2")
    run(recipe, tmp_path / "parts", system, "run.max_steps=4", resume=True)
    whole, parts = (
        load_file(tmp_path / name / "checkpoint-00000004" / "model.safetensors")
        for name in ("whole", "parts")
    )
    for name, value in whole.items():
        assert torch.equal(value, parts[name]), name


def test_another_system_is_refused(trained, tmp_path):
    system, recipe, result = trained
    other = next(name for name in SYSTEMS if name != system)
    with pytest.raises(ConfigError, match=f"system '{system}', but '{other}' is wanted"):
        run(recipe, tmp_path, other, f"start.model={result.best}")


def test_the_loss_does_not_depend_on_padding(trained):
    from sumfit.data.batching import build_batch
    from sumfit.data.corpus import PackedCorpus

    system, path, result = trained
    network = load_network(result.best)
    recipe = load_recipe(path, [f"system={system}", *SYSTEMS[system]])
    corpus = PackedCorpus.open(recipe.corpus, "valid")
    order = np.argsort(corpus.source_lengths)
    batch = [order[0], order[-1]]
    losses = []
    for items in ([batch[0]], [batch[1]], batch):
        tensors = to_tensors(build_batch(corpus, np.array(items), recipe.batch_options), pin=False)
        with torch.no_grad():
            losses.append(get_system(system).loss(network, tensors, LossOptions()).nll_sum.item())
    assert losses[0] + losses[1] == pytest.approx(losses[2], rel=1e-4)


def test_a_model_that_is_told_the_length_keeps_to_it(tiny_recipe, tmp_path):
    """Only the number told says how many of the source's first words a summary has."""

    def first_few(words, rng):
        return " ".join(words), " ".join(words[: rng.integers(2, 8)])

    told = write_recipe(tiny_recipe, tmp_path, n_pairs=600, make=first_few)
    lengths = {}
    for system in ("at", "at-leninfo"):
        words = [*LEARNING, "run.max_steps=400", "validation.words=5"]
        result = run(told, tmp_path / system, system, *words)
        fit = load_baseline(result.best, device="cpu")
        source = "gus ann lou cid hal eve bob ida kay"
        lengths[system] = [
            len(fit.tokenizer.decode(fit(source, max_words=n, keep_short=False).words).split())
            for n in range(2, 8)
        ]
    assert lengths["at-leninfo"] == list(range(2, 8))
    assert lengths["at"] != lengths["at-leninfo"]
