from __future__ import annotations

import dataclasses
import errno
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from sumfit.constraints.lexicon import Lexicon
from sumfit.errors import (
    ConfigError,
    IncompatibleModelError,
    ModelFormatError,
    ModelNotFoundError,
    TrainingError,
)
from sumfit.length import longest_pieces
from sumfit.models import DAT, DATConfig
from sumfit.text import Tokenizer
from sumfit.training import checkpoints
from sumfit.training.checkpoints import TrainingState
from sumfit.training.export import export_model
from sumfit.training.loader import Position
from sumfit.training.pieces import averaged_weights, join_pieces, write_pieces

SMALL = {
    "width": 8,
    "n_heads": 2,
    "n_link_heads": 2,
    "ffn_width": 8,
    "n_encoder_layers": 1,
    "n_decoder_layers": 1,
    "max_source_tokens": 40,
    "min_vertices": 16,
    "max_vertices": 32,
}


@pytest.fixture
def tokenizer(tmp_path) -> Path:
    path = tmp_path / "tok.json"
    Tokenizer.train(["The council met on Monday."] * 3, vocab_size=280).save(path)
    return path


@pytest.fixture
def model(tokenizer) -> DAT:
    torch.manual_seed(1)
    return DAT(DATConfig(vocab_size=Tokenizer.from_file(tokenizer).vocab_size, **SMALL))


def save(folder, model, tokenizer, **options):
    fields = {
        "name": "m",
        "tokenizer_sha256": Tokenizer.from_file(tokenizer).fingerprint,
        "profiles": ["natural"],
    }
    checkpoints.save_checkpoint(folder, model=model, fields=fields, tokenizer=tokenizer, **options)


def test_a_checkpoint_comes_back_as_it_was(tmp_path, model, tokenizer):
    state = TrainingState(7, Position(2, 5), "plan", 900, 12.5, 3.25, 4, 1)
    training = {"ema.a": torch.arange(3.0), "step.a": torch.tensor(7.0)}
    save(tmp_path / "checkpoint-00000007", model, tokenizer, training=training, state=state)
    twin = DAT(model.config)
    again, tensors = checkpoints.load_training(tmp_path / "checkpoint-00000007", twin)
    assert again == state
    assert tensors.keys() == training.keys()
    for name, value in model.state_dict().items():
        assert torch.equal(value, twin.state_dict()[name])


def test_the_latest_checkpoint_is_the_one_of_most_steps(tmp_path, model, tokenizer):
    assert checkpoints.latest(tmp_path / "none") is None
    for step in (5, 10, 100_000_000, 20):
        save(tmp_path / f"checkpoint-{step:08d}", model, tokenizer)
    (tmp_path / ".checkpoint-99999999.part").mkdir()
    (tmp_path / "best").mkdir()
    assert checkpoints.latest(tmp_path) == tmp_path / "checkpoint-100000000"
    checkpoints.clear_old(tmp_path, keep=2)
    left = sorted(path.name for path in tmp_path.glob("checkpoint-*"))
    assert left == ["checkpoint-00000020", "checkpoint-100000000"]


def test_a_full_disk_is_a_clear_error_and_leaves_the_old_checkpoint(
    tmp_path, model, tokenizer, monkeypatch
):
    folder = tmp_path / "checkpoint-00000001"
    save(folder, model, tokenizer)
    before = (folder / "model.safetensors").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(TrainingError) as caught:
        save(folder, model, tokenizer)
    assert re.fullmatch(
        f"cannot write {folder}: No space left on device; \\d+ MiB are free there. Earlier "
        "checkpoints are untouched: make room and resume",
        str(caught.value),
    )
    with pytest.raises(TrainingError) as caught:
        export_model(folder, tmp_path / "out", precisions=["fp32"])
    assert re.fullmatch(
        f"cannot write {tmp_path / 'out'}: No space left on device; \\d+ MiB are free there. "
        "Nothing was written: make room, or give another output",
        str(caught.value),
    )
    assert (folder / "model.safetensors").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_where_nothing_can_be_made_the_path_is_what_is_wrong(tmp_path, model, tokenizer):
    save(tmp_path / "c", model, tokenizer)
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "deep" / "x"
    with pytest.raises(TrainingError) as caught:
        export_model(tmp_path / "c", place, precisions=["fp32"])
    assert str(caught.value) == (
        f"cannot write {place}: Not a directory. Nothing was written: give another output"
    )
    with pytest.raises(TrainingError) as caught:
        save(place, model, tokenizer)
    assert str(caught.value) == (
        f"cannot write {place}: Not a directory. Earlier checkpoints are untouched: "
        f"make {place.parent} a directory to write into and resume"
    )


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_weights_have_the_mode_that_the_umask_gives(tmp_path, model, tokenizer, mask, mode):
    before = os.umask(mask)
    try:
        save(tmp_path / "c", model, tokenizer, training={"step.a": torch.zeros(1)})
        export_model(tmp_path / "c", tmp_path / "m", precisions=["fp32"], keep_weights=True)
    finally:
        os.umask(before)
    files = [*(tmp_path / "c").iterdir(), *(tmp_path / "m").iterdir()]
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in files} == {
        path.name: oct(mode) for path in files
    }


def test_a_checkpoint_without_checksums_is_read(tmp_path, model, tokenizer):
    state = TrainingState(7, Position(2, 5), "plan", 900, 12.5, 3.25, 4, 1)
    save(tmp_path / "c", model, tokenizer, training={"ema.a": torch.zeros(1)}, state=state)
    file = tmp_path / "c" / "training.json"
    values = json.loads(file.read_text())
    assert values.pop("sha256").keys() == {"model.safetensors", "training.safetensors"}
    file.write_text(json.dumps(values))
    assert checkpoints.load_training(tmp_path / "c", model)[0] == state


def test_a_checkpoint_of_another_architecture_is_refused(tmp_path, model, tokenizer):
    save(tmp_path / "c", model, tokenizer)
    other = DAT(DATConfig(vocab_size=model.config.vocab_size, **{**SMALL, "ffn_width": 16}))
    with pytest.raises(IncompatibleModelError) as caught:
        checkpoints.load_into(tmp_path / "c", other)
    assert str(caught.value) == (
        f"{tmp_path / 'c'} has another architecture: ffn_width is 8 there and 16 here; use the "
        "recipe and tokenizer that its weights were made with"
    )


def test_weights_that_fit_another_architecture_by_their_shapes_alone_are_refused(
    tmp_path, model, tokenizer
):
    save(tmp_path / "c", model, tokenizer)
    half = dataclasses.replace(model.config, n_heads=model.config.n_heads // 2)
    eps = dataclasses.replace(model.config, layer_norm_eps=1e-5)
    for config, told in (
        (half, f"n_heads is {model.config.n_heads} there and {half.n_heads} here;"),
        (eps, "layer_norm_eps is 1e-12 there and 1e-05 here;"),
    ):
        with pytest.raises(IncompatibleModelError, match=told):
            checkpoints.load_into(tmp_path / "c", DAT(config))
    # What is no part of the weights' meaning may be another one: drop rate, size of graphs.
    free = {"dropout": 0.4, "vertex_scale": 0.5, "min_vertices": 5, "n_candidates": 3}
    same = DAT(dataclasses.replace(model.config, **free))
    checkpoints.load_into(tmp_path / "c", same)
    for name, value in model.state_dict().items():
        assert torch.equal(same.state_dict()[name], value)


def test_a_checkpoint_without_training_state_cannot_be_resumed(tmp_path, model, tokenizer):
    save(tmp_path / "c", model, tokenizer)
    with pytest.raises(ModelFormatError, match=r"cannot be resumed from: .*training"):
        checkpoints.load_training(tmp_path / "c", model)


def test_pieces_are_small_and_join_to_the_averaged_weights(tmp_path, model, tokenizer):
    ema = {f"ema.{name}": value + 1 for name, value in model.named_parameters()}
    save(tmp_path / "c", model, tokenizer, training=ema)
    limit = 6 / 1024
    paths = write_pieces(tmp_path / "c", tmp_path / "p", max_mib=limit)
    assert len(paths) > 1
    largest = max(value.numel() * 2 for value in model.parameters())
    assert all(path.stat().st_size <= max(limit * 2**20, largest + 400) for path in paths)
    joined = join_pieces(tmp_path / "p", tmp_path / "j")
    weights = load_file(joined / "model.safetensors")
    for name, value in model.named_parameters():
        torch.testing.assert_close(weights[name], (value + 1).half().float())
    assert (joined / "config.json").read_bytes() == (tmp_path / "c/config.json").read_bytes()
    paths[0].unlink()
    with pytest.raises(ModelFormatError, match="pieces are missing"):
        join_pieces(tmp_path / "p", tmp_path / "j")
    with pytest.raises(ModelNotFoundError, match="holds no weights-NN"):
        join_pieces(tmp_path / "c", tmp_path / "j")
    with pytest.raises(ModelNotFoundError, match=r"holds no model\.safetensors"):
        averaged_weights(tmp_path / "p")


def test_an_exported_model_predicts_what_its_averaged_weights_predict(tmp_path, model, tokenizer):
    from sumfit.runtime import ModelDirectory, load_backend
    from sumfit.runtime.graph import GraphRequest

    ema = {f"ema.{name}": value * 1.5 for name, value in model.named_parameters()}
    save(tmp_path / "c", model, tokenizer, training=ema)
    lexicon = tmp_path / "lexicon.txt.xz"
    from sumfit.constraints.lexicon import Lexicon

    Lexicon.from_words(["council", "met"]).save(lexicon)
    target = export_model(
        tmp_path / "c", tmp_path / "out", lexicon=lexicon, name="n", precisions=["fp32"]
    )
    directory = ModelDirectory.open(target)
    assert directory.config.name == "n"
    assert directory.lexicon is not None
    ids = Tokenizer.from_file(tokenizer).encode("The council met on Monday.")
    backend = load_backend(directory, precision="fp32")
    (dag,) = backend.graphs([GraphRequest(tuple(ids), 16)])
    averaged = DAT(model.config).eval()
    averaged.load_state_dict({n: v * 1.5 for n, v in model.state_dict().items()})
    with torch.no_grad():
        words, links = averaged(torch.tensor([ids]), torch.ones(1, 16, dtype=torch.bool))
    inner = slice(1, 15)
    expected = words[0, inner][:, dag.word_ids.tolist()]
    torch.testing.assert_close(torch.from_numpy(dag.word_logp[inner]), expected, atol=1e-3, rtol=0)
    upper = torch.ones(16, 16).triu(1).bool()
    torch.testing.assert_close(
        torch.from_numpy(dag.link_logp)[upper], links[0][upper], atol=1e-3, rtol=0
    )
    again = export_model(tmp_path / "c", target, precisions=["fp32"])
    assert (again / "lexicon.txt.xz").read_bytes() == lexicon.read_bytes()
    with pytest.raises(ConfigError, match="precisions must be among"):
        export_model(tmp_path / "c", target, precisions=[])


@pytest.mark.parametrize("n_pinned", [None, 0, 7])
def test_an_exported_model_pins_its_longest_pieces(tmp_path, model, tokenizer, n_pinned):
    from sumfit.runtime import ModelDirectory, load_backend
    from sumfit.runtime.graph import GraphRequest

    save(tmp_path / "c", model, tokenizer)
    target = export_model(
        tmp_path / "c", tmp_path / "m", precisions=["fp32"], words_per_vertex=1,
        pinned_words=n_pinned,
    )  # fmt: skip
    directory = ModelDirectory.open(target)
    wanted = 48 if n_pinned is None else n_pinned
    assert directory.config.pinned_words == wanted
    longest = longest_pieces(directory.tokenizer, wanted)
    text = "The council met on Monday."
    requests = [
        GraphRequest(tuple(directory.tokenizer.encode(text[start:])), size)
        for start, size in ((0, 16), (12, 24))
    ]
    graphs = load_backend(directory).graphs(requests)
    in_torch = load_backend(directory, backend="torch", device="cpu").graphs(requests)
    for request, dag, other in zip(requests, graphs, in_torch, strict=True):
        assert set(longest) <= set(dag.word_ids)
        assert dag.n_candidates <= request.n_vertices + wanted
        assert list(other.word_ids) == list(dag.word_ids)
        assert other.word_logp[1:-1] == pytest.approx(dag.word_logp[1:-1], abs=1e-3)
        assert other.other_logp == pytest.approx(dag.other_logp, abs=1e-3)


def test_an_export_can_average_several_checkpoints(tmp_path, model, tokenizer):
    save(tmp_path / "a", model, tokenizer)
    (tmp_path / "a" / "reranker").mkdir()
    np.savez(tmp_path / "a" / "salience.npz", any=np.zeros(1))
    for name in ("b", "c"):
        with torch.no_grad():
            for weights in model.parameters():
                weights.add_(torch.randn_like(weights) / 10)
        save(tmp_path / name, model, tokenizer)
    folders = [tmp_path / name for name in "abc"]
    target = export_model(
        folders[0],
        tmp_path / "m",
        precisions=["fp32"],
        keep_weights=True,
        average_with=folders[1:],
    )
    parts = [load_file(folder / "model.safetensors") for folder in folders]
    kept = load_file(target / "model.safetensors")
    for name, value in parts[0].items():
        mean = (value + parts[1][name] + parts[2][name]) / 3
        torch.testing.assert_close(kept[name].float(), mean, rtol=2e-3, atol=2e-3)
    again = export_model(folders[0], tmp_path / "n", precisions=["fp32"])
    assert (again / "reranker").is_dir()
    assert (again / "salience.npz").is_file()
    for name in ("reranker", "salience.npz"):  # they learned from other weights
        assert not (target / name).exists()


def test_checkpoints_that_cannot_be_averaged_are_refused(tmp_path, model, tokenizer):
    save(tmp_path / "a", model, tokenizer)
    wider = DAT(DATConfig(vocab_size=model.config.vocab_size, **SMALL | {"ffn_width": 16}))
    save(tmp_path / "wider", wider, tokenizer)
    save(tmp_path / "smaller", DAT(dataclasses.replace(model.config, min_vertices=5)), tokenizer)
    save(tmp_path / "other", model, tokenizer)
    Tokenizer.train(["Trains stop on Tuesday."] * 3, vocab_size=280).save(
        tmp_path / "other" / "tokenizer.json"
    )
    (tmp_path / "graph").mkdir()
    for name, error, message in (
        (
            "wider",
            IncompatibleModelError,
            r"wider has another architecture than .*a: ffn_width is 16 there and 8 here; average "
            "runs that started from the same weights$",
        ),
        (
            "smaller",
            IncompatibleModelError,
            r"smaller has another architecture than .*a: min_vertices is 5 there and \d+ here;",
        ),
        (
            "nope",
            ModelNotFoundError,
            "^there is no directory .*nope; give a checkpoint or a model directory$",
        ),
        ("other", IncompatibleModelError, "other has another tokenizer than .*a$"),
        ("graph", ModelFormatError, "graph holds no model.safetensors: .* exported from$"),
    ):
        with pytest.raises(error, match=message):
            export_model(tmp_path / "a", tmp_path / "m", average_with=[tmp_path / name])
    assert not (tmp_path / "m").exists()


def test_a_lexicon_that_cannot_be_read_is_refused_before_anything_is_written(
    tmp_path, model, tokenizer
):
    save(tmp_path / "a", model, tokenizer)
    Lexicon.from_words(["bridge", "quick"]).save(tmp_path / "whole.txt.xz")
    (tmp_path / "cut.xz").write_bytes((tmp_path / "whole.txt.xz").read_bytes()[:-9])
    with pytest.raises(ModelFormatError) as caught:
        export_model(tmp_path / "a", tmp_path / "m", lexicon=tmp_path / "cut.xz")
    assert str(caught.value) == (
        f"{tmp_path / 'cut.xz'} is not a readable lexicon (it breaks off); restore it from the "
        "model"
    )
    with pytest.raises(ModelNotFoundError) as missing:
        export_model(tmp_path / "a", tmp_path / "m", lexicon=tmp_path / "none.xz")
    assert str(missing.value) == f"no lexicon file at {tmp_path / 'none.xz'}"
    with pytest.raises(ModelNotFoundError) as nowhere:
        export_model(tmp_path / "nope", tmp_path / "m")
    assert str(nowhere.value) == (
        f"there is no directory {tmp_path / 'nope'}; give a checkpoint or a model directory"
    )
    assert not (tmp_path / "m").exists()
    (tmp_path / "words.txt").write_text("bridge\nquick\n")  # plain words are read as well
    target = export_model(
        tmp_path / "a", tmp_path / "m", lexicon=tmp_path / "words.txt", precisions=["fp32"]
    )
    assert list(Lexicon.load(target / "lexicon.txt.xz")) == [b"bridge", b"quick"]
