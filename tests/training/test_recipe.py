from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from sumfit.config import read_toml
from sumfit.errors import ConfigError
from sumfit.models import DAT
from sumfit.models.network import build_network
from sumfit.training.recipe import load_recipe

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
TRAINED = [path for path in RECIPES if path.stem.startswith(("dat-", "at-", "tiny"))]
BASELINES = [path for path in TRAINED if path.stem.startswith("at-")]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_says_what_it_said_when_its_figures_were_published(path):
    """Of a recipe that extends another one, too: a change of the base shows here."""
    digests = json.loads((Path(__file__).parents[1] / "golden" / "recipes.json").read_text())
    text = json.dumps(read_toml(path), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert digests.get(path.stem) == digest, "if it was meant to change, store this digest"


@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_every_recipe_loads_and_begins_with_its_command(path):
    recipe = load_recipe(path)
    assert recipe.name == path.stem
    assert path.read_text().startswith(f"# sumfit train recipes/{path.name}")
    assert recipe.data.max_source == recipe.model.max_source_tokens
    longest = recipe.batch_options.cost(np.array([recipe.data.max_source]))
    assert longest[0] < recipe.data.batch_tokens


@pytest.mark.parametrize(
    ("name", "least", "most"), [("dat-default", 30e6, 37e6), ("dat-small", 5e6, 15e6)]
)
def test_models_have_the_size_that_their_recipe_states(name, least, most):
    path = next(path for path in RECIPES if path.stem == name)
    recipe = load_recipe(path)
    model = DAT(recipe.with_vocab(recipe.data.vocab_size).model)
    assert least < sum(p.numel() for p in model.parameters()) < most


@pytest.mark.parametrize("path", BASELINES, ids=lambda path: path.stem)
def test_a_baseline_has_the_data_size_and_optimiser_of_its_dat(path):
    baseline = load_recipe(path)
    assert path.stem.startswith(baseline.system)
    dat = load_recipe(path.with_name(f"dat-{path.stem.removeprefix(baseline.system + '-')}.toml"))
    shape = dataclasses.replace(dat.model, n_limit_buckets=baseline.model.n_limit_buckets)
    assert baseline.model == shape
    for section in ("data", "start", "optimizer", "run", "validation", "seed", "batch_options"):
        assert getattr(baseline, section) == getattr(dat, section), section
    assert baseline.loss.label_smoothing == dat.loss.label_smoothing
    small = {"vocab_size": 4000}
    sizes = [
        sum(
            p.numel()
            for p in build_network(system, dataclasses.replace(shape, **small)).parameters()
        )
        for system in (baseline.system, "dat")
    ]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.05)


def test_a_model_that_is_told_the_length_needs_places_for_it(tmp_path):
    path = next(path for path in RECIPES if path.stem == "at-leninfo-gigaword-open")
    with pytest.raises(ConfigError, match=r"needs model\.n_limit_buckets.* was 1"):
        load_recipe(path, ["model.n_limit_buckets=1"])


def test_a_dat_is_told_no_length(tmp_path):
    path = next(path for path in RECIPES if path.stem == "dat-gigaword-open")
    message = r"n_limit_buckets is of system at-leninfo alone.* system dat .* was 65"
    with pytest.raises(ConfigError, match=message):
        load_recipe(path, ["model.n_limit_buckets=65"])
    words = ["model.n_limit_buckets=65", "system=at-leninfo"]
    assert load_recipe(path, words).model.n_limit_buckets == 65


def test_the_papers_recipe_is_complete_and_the_released_one_differs_as_documented():
    paper, released = (
        load_recipe(next(path for path in RECIPES if path.stem == name))
        for name in ("dat-gigaword", "dat-gigaword-released")
    )
    assert (paper.model.dropout, released.model.dropout) == (0.1, 0.3)
    assert (paper.loss.label_smoothing, released.loss.label_smoothing) == (0.1, 0.0)
    assert (paper.run.max_steps, released.run.max_steps) == (100_000, 300_000)
    assert (paper.loss.glance_end, released.loss.glance_end) == (0.1, 0.5)
    # Source pieces and vertices cost one each, so half of the batch's cost are source pieces.
    for recipe, tokens in ((paper, 65536), (released, 49152)):
        assert recipe.run.accumulate * recipe.data.batch_tokens // 2 == tokens


@pytest.mark.parametrize("name", ["dat-ngram", "dat-risk"])
def test_a_second_stage_has_the_data_and_the_network_of_the_first(name):
    first, second = (
        load_recipe(next(path for path in RECIPES if path.stem == stem))
        for stem in ("dat-all-pairs", name)
    )
    names = [[(entry.name, entry.profile) for entry in each.data.sets] for each in (first, second)]
    assert names[0] == names[1]
    assert dataclasses.replace(second.model, dropout=first.model.dropout) == first.model


def test_sections_report_their_own_problems_together(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text(
        "[data]\nmax_source = 9999\n[optimizer]\nlr = 0\nschedule = 'fast'\n"
        "[loss]\nglance_start = 2.0\n[run]\nmax_step = 1\n[validation]\nmetric = 'rouge'\n"
    )
    with pytest.raises(ConfigError) as caught:
        load_recipe(path)
    text = str(caught.value)
    assert "optimizer.schedule must be one of 'inverse-sqrt', 'linear'" in text
    assert "loss: glance_start must be between 0 and 1, was 2.0" in text
    assert "run.max_step is not a known key; did you mean 'max_steps'?" in text
    assert "validation: metric rouge needs n_rouge above 0" in text


def test_a_recipe_without_data_or_with_too_long_sources_is_refused(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("[data]\nmax_source = 9999\n")
    with pytest.raises(ConfigError, match=r"data\.max_source 9999 is above") as caught:
        load_recipe(path)
    assert "data needs sets or a packed corpus" in str(caught.value)


def test_the_vocabulary_size_belongs_to_the_tokenizer(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("[model]\nvocab_size = 100\n")
    with pytest.raises(ConfigError, match=r"set data\.vocab_size instead"):
        load_recipe(path)


def test_missing_files_and_start_weights_are_all_named(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(
        '[start]\nminilm = "nowhere"\n[[data.sets]]\nname = "a"\ntrain = "a.jsonl"\n'
        'valid = "b.jsonl"\n'
    )
    problems = load_recipe(path, [f"data_dir={tmp_path}"]).data_problems()
    assert problems == [
        f"set a: train file {tmp_path / 'a.jsonl'} does not exist; set data_dir=",
        f"set a: valid file {tmp_path / 'b.jsonl'} does not exist; set data_dir=",
        "start.minilm nowhere does not exist",
    ]
