"""A run that starts from a model goes on with its tokenizer, shape, settings and words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from sumfit.constraints.lexicon import Lexicon
from sumfit.errors import ConfigError
from sumfit.models import load_model
from sumfit.models.manifest import write_manifest
from sumfit.runtime import ModelDirectory, default_model_path, load_backend
from sumfit.runtime.graph import GraphRequest
from sumfit.training.export import export_model
from sumfit.training.recipe import load_recipe
from sumfit.training.run import train
from sumfit.training.start import start_directory, start_fields

PAIRS = [
    pair
    for day in range(1, 13)
    for pair in (
        (f"Workers closed the old bridge by the river on May {day} after cracks", "Bridge closed"),
        (f"The library opens on Sundays and lends books from June {day} on", "Library opens"),
    )
]
MINE = """
name = "mine"
data_dir = "{data}"
output_dir = "{output}"

[start]
model = "{model}"

[[data.sets]]
name = "own"
train = "pairs.jsonl"
valid = "valid.jsonl"

[run]
max_steps = 2
precision = "fp32"
validate_every = 0
"""


@pytest.fixture(scope="module")
def shipped(tiny_recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small trained model as it is shipped: graphs in int8, no weights."""
    folder = tmp_path_factory.mktemp("shipped")
    recipe = load_recipe(tiny_recipe, [f"output_dir={folder / 'run'}", "run.max_steps=4"])
    result = train(recipe, device="cpu")
    Lexicon.from_words(["bridge", "quick"]).save(folder / "words.txt.xz")
    export_model(
        result.checkpoint, folder / "m", lexicon=folder / "words.txt.xz", precisions=["int8"]
    )
    config = json.loads((folder / "m" / "config.json").read_text())
    config |= {"bonus": {"words": 0.7}, "words_per_vertex": 3, "scripts": ["Latin"]}
    config["pinned_words"] = 5
    (folder / "m" / "config.json").write_text(json.dumps(config))
    write_manifest(folder / "m")
    return folder / "m"


def write_recipe(folder: Path, model: str | Path) -> Path:
    rows = [json.dumps({"source": source, "summary": summary}) for source, summary in PAIRS]
    (folder / "pairs.jsonl").write_text("\n".join(rows[4:]) + "\n")
    (folder / "valid.jsonl").write_text("\n".join(rows[:4]) + "\n")
    file = folder / "mine.toml"
    file.write_text(MINE.format(data=folder, output=folder / "run", model=model))
    return file


def test_fine_tuning_a_shipped_model_needs_only_the_pairs(shipped: Path, tmp_path: Path) -> None:
    recipe = load_recipe(write_recipe(tmp_path, shipped))
    before = load_model(shipped)
    assert recipe.with_vocab(before.config.vocab_size).model == before.config
    result = train(recipe, device="cpu")
    after = load_model(result.checkpoint)
    moved = [
        float((one - other).detach().abs().max())
        for one, other in zip(before.parameters(), after.parameters(), strict=True)
    ]
    assert 0 < max(moved) < 0.05  # two small steps away from where it started

    target = export_model(result.checkpoint, tmp_path / "tuned", precisions=["int8"])
    tuned = ModelDirectory.open(target)
    assert tuned.tokenizer.fingerprint == ModelDirectory.open(shipped).tokenizer.fingerprint
    assert (tuned.config.bonus_for("words"), tuned.config.scripts) == (0.7, ("Latin",))
    assert (tuned.config.words_per_vertex, tuned.config.pinned_words) == (3, 5)
    assert tuned.lexicon is not None
    words = {word.decode() for word in tuned.lexicon}
    assert {"bridge", "quick", "library", "Sundays"} <= words


def test_what_the_recipe_says_wins(shipped: Path, tmp_path: Path) -> None:
    file = write_recipe(tmp_path, shipped)
    other = tmp_path / "other.json"
    recipe = load_recipe(file, ["model.dropout=0.4", f"data.tokenizer={other}"])
    assert recipe.model.dropout == 0.4
    assert recipe.model.width == 16
    assert recipe.data.tokenizer == str(other)
    assert load_recipe(file, ["data.corpus=packed"]).data.tokenizer == ""


def test_default_is_the_embedded_model(tmp_path: Path) -> None:
    recipe = load_recipe(write_recipe(tmp_path, "default"))
    assert start_directory("default") == default_model_path()
    assert recipe.data.tokenizer == "default"
    assert recipe.known_tokenizer == default_model_path() / "tokenizer.json"
    assert recipe.data.max_source == recipe.model.max_source_tokens == 192
    assert recipe.data_problems() == []
    assert start_fields("default")["bonus"]["words"] > 0
    assert start_fields("") == {}


def test_a_start_that_is_not_there_is_named_with_the_rest(tmp_path: Path) -> None:
    recipe = load_recipe(write_recipe(tmp_path, tmp_path / "nowhere"), ["data_dir=empty"])
    problems = "\n".join(recipe.data_problems())
    assert f"start.model {tmp_path / 'nowhere'} does not exist" in problems
    assert "pairs.jsonl" in problems
    with pytest.raises(ConfigError, match="does not exist"):
        train(recipe, device="cpu")


def test_the_embedded_models_weights_predict_what_its_graph_predicts() -> None:
    path = default_model_path()
    model = ModelDirectory.open(path)
    text = "The council closed the old bridge on Tuesday after engineers found cracks in it."
    ids = tuple(model.tokenizer.encode_batch([text])[0])
    request = GraphRequest(ids, model.config.architecture.n_vertices(len(ids)))
    expected = load_backend(model).graphs([request])[0]
    network = load_model(path)
    with torch.no_grad():
        mask = torch.ones(1, request.n_vertices, dtype=torch.bool)
        words, links = network(torch.tensor([ids]), mask)
    found = words[0][1:-1, torch.from_numpy(expected.word_ids).long()].exp().numpy()
    # The graph rounds activations to 8 bits, the network does not.
    assert abs(found - torch.from_numpy(expected.word_logp[1:-1]).exp().numpy()).mean() < 2e-3
    reached = torch.from_numpy(expected.link_logp).exp()
    assert float((links[0].exp() - reached).abs().mean()) < 0.01
    best = expected.word_ids[expected.word_logp[1:-1].argmax(axis=1)]
    ours = words[0, 1:-1, 4:].argmax(dim=1).numpy() + 4
    assert (best == ours).mean() > 0.8


def test_no_file_of_the_machine_is_in_what_starts_from_the_embedded_model(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_recipe(tmp_path, "default")
    monkeypatch.setattr("sumfit.training.start.default_model_path", lambda: shipped)
    first = train(load_recipe(file, ["run.max_steps=1"]), device="cpu")
    written = (first.checkpoint / "config.json").read_text()
    assert json.loads(written)["recipe"]["data"]["tokenizer"] == "default"
    assert str(shipped) not in written

    moved = tmp_path / "moved"  # as in another installation of the package
    shutil.copytree(shipped, moved)
    monkeypatch.setattr("sumfit.training.start.default_model_path", lambda: moved)
    second = train(load_recipe(file), device="cpu", resume=True)
    assert second.step == 2
    target = export_model(second.checkpoint, tmp_path / "tuned", precisions=["int8"])
    recipe = json.loads((target / "config.json").read_text())["recipe"]
    assert (recipe["output_dir"], recipe["data_dir"]) == ("", "")
    assert (recipe["data"]["tokenizer"], recipe["start"]["model"]) == ("default", "default")
    assert recipe["data"]["sets"][0]["train"] == "pairs.jsonl"
    assert str(tmp_path) not in (target / "config.json").read_text()


def test_an_export_names_no_directory_of_its_machine(shipped: Path, tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    recipe = load_recipe(write_recipe(tmp_path, shipped))
    result = train(recipe, device="cpu")
    file = result.checkpoint / "config.json"
    config = json.loads(file.read_text())
    config["recipe"]["data"] |= {"lists": [str(lists), "near/lists"], "corpus": "near/corpus"}
    config["recipe"]["data"]["sets"][0]["train"] = str(tmp_path / "pairs.jsonl")
    file.write_text(json.dumps(config))
    target = export_model(result.checkpoint, tmp_path / "m", precisions=["int8"])
    written = json.loads((target / "config.json").read_text())["recipe"]
    assert written["start"]["model"] == written["data"]["tokenizer"] == ""
    assert (written["data"]["lists"], written["data"]["corpus"]) == (["near/lists"], "near/corpus")
    assert written["data"]["sets"][0]["train"] == "pairs.jsonl"
    assert str(tmp_path) not in json.dumps(written)
