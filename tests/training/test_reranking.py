"""Training of rerankers: a task that can be learned is learned, and a run can be stopped."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sumfit.errors import (
    ConfigError,
    DataFormatError,
    IncompatibleModelError,
    ModelFormatError,
)
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.models import DAT, DATConfig, save_model
from sumfit.models.manifest import MANIFEST
from sumfit.rerank.features import ListNumbers, candidate_features
from sumfit.rerank.graph import mbr_places
from sumfit.rerank.neural import NeuralReranker
from sumfit.text import Tokenizer
from sumfit.training.loader import Position
from sumfit.training.nbest.lists import FORMAT, ListMeta, Lists, part_path, write_meta
from sumfit.training.nbest.spec import NbestSpec
from sumfit.training.reranking.data import ListData, ListStream, plan_batches
from sumfit.training.reranking.files import export_reranker, load_reranker
from sumfit.training.reranking.loop import train_reranker
from sumfit.training.reranking.recipe import (
    BatchSection,
    RerankerRecipe,
    SelectionSection,
    load_reranker_recipe,
)
from sumfit.training.reranking.step import targets
from tests.tiny_model import TEXTS

K = 6
RECIPE = """
seed = 2
[encoder]
start = "{encoder}"
[model]
n_candidates = 6
head = "{head}"
features = false
max_source = 24
max_candidate = 12
dropout = 0.0
[loss]
kind = "{loss}"
[optimizer]
lr = 3e-3
warmup_steps = 5
schedule = "constant"
ema_decay = 0.9
[run]
max_steps = {steps}
precision = "fp32"
log_every = 10
validate_every = 50
save_every = 20
[batches]
tokens = 1500
"""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks this small only lose by threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder, and lists in which the good candidate is marked and the rest is noise."""
    folder = tmp_path_factory.mktemp("t")
    tokenizer = Tokenizer.train(TEXTS * 3, vocab_size=300)
    shape = DATConfig(
        vocab_size=tokenizer.vocab_size,
        width=16,
        n_heads=2,
        n_link_heads=2,
        ffn_width=16,
        n_encoder_layers=1,
        n_decoder_layers=1,
        max_source_tokens=48,
    )
    torch.manual_seed(0)
    save_model(DAT(shape), folder / "encoder", fields={"tokenizer_sha256": tokenizer.fingerprint})
    tokenizer.save(folder / "encoder" / "tokenizer.json")
    for name, n, seed in (("train", 300, 1), ("valid", 60, 2)):
        write_lists(folder / name, tokenizer, n=n, seed=seed)
    return folder


def write_lists(folder: Path, tokenizer: Tokenizer, *, n: int, seed: int) -> None:
    """Pieces of " the " mark the candidate with the greatest gain; there may be fewer than K."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    mark = tokenizer.encode("storm")
    others = tokenizer.encode("bank rate library water bridge")
    counts, gains, candidates, sources = [], [], [], []
    for _ in range(n):
        count = int(rng.integers(2, K + 1))
        good = int(rng.integers(count))
        for k in range(count):
            words = rng.choice(others, int(rng.integers(2, 5))).tolist()
            candidates.append([*words, *mark] if k == good else words)
            gains.append(0.8 if k == good else 0.2)
        counts.append(count)
        sources.append(rng.choice(others, 6).tolist())
    n_all = len(candidates)
    lists = Lists(
        items=np.arange(n),
        limits=np.full(n, 5, np.int32),
        n_candidates=np.array(counts, np.int16),
        source_lengths=np.array([len(ids) for ids in sources], np.int32),
        source_ids=np.array([i for ids in sources for i in ids], np.int32),
        candidate_lengths=np.array([len(ids) for ids in candidates], np.int32),
        candidate_ids=np.array([i for ids in candidates for i in ids], np.int32),
        log_probs=-np.ones(n_all, np.float32),
        scores=-np.ones(n_all, np.float32),
        gains=np.array(gains, np.float32),
        overlaps=np.array([round(10 * gain) for gain in gains], np.int16),
        ranks=np.concatenate([np.arange(count) for count in counts]).astype(np.int16),
        expected_f1=np.concatenate(
            [0.5 + 0.1 * rng.permutation(count) / count for count in counts]
        ).astype(np.float32),
    )
    half = n // 2
    first = int(lists.n_candidates[:half].sum())
    for number, (rows, all_rows) in enumerate(
        ((slice(half), slice(first)), (slice(half, None), slice(first, None)))
    ):
        part(lists, rows, all_rows).save(part_path(folder, number))
    meta = ListMeta(
        FORMAT, "made-up", "0" * 64, tokenizer.fingerprint, folder.name, "made-up", "{}", n, 2,
        ("natural",),
    )  # fmt: skip
    write_meta(folder, meta)
    tokenizer.save(folder / "tokenizer.json")


def part(lists: Lists, rows: slice, all_rows: slice) -> Lists:
    ends = np.cumsum(np.concatenate([[0], lists.source_lengths]))
    all_ends = np.cumsum(np.concatenate([[0], lists.candidate_lengths]))

    def cut(flat: Any, bounds: Any, chosen: slice) -> Any:
        start = bounds[:-1][chosen][0]
        return flat[start : start + np.diff(bounds)[chosen].sum()]

    values = {}
    for name in Lists.__dataclass_fields__:
        value = getattr(lists, name)
        if name == "source_ids":
            values[name] = cut(value, ends, rows)
        elif name == "candidate_ids":
            values[name] = cut(value, all_ends, all_rows)
        else:
            values[name] = value[rows if len(value) == len(lists) else all_rows]
    return Lists(**values)


def recipe(place: Path, output: Path, **values: Any) -> RerankerRecipe:
    settings = {"head": "pooled", "loss": "listwise", "steps": 60, **values}
    path = output.parent / f"{output.name}.toml"
    path.write_text(RECIPE.format(encoder=place / "encoder", **settings))
    words = [f"train={place / 'train'}", f"valid={place / 'valid'}", f"output_dir={output}"]
    return load_reranker_recipe(path, words)


@pytest.mark.parametrize(
    ("head", "loss"),
    [("pooled", "listwise"), ("pooled", "pairwise"), ("pooled", "risk"), ("rank", "one-hot")],
)
def test_a_marked_candidate_is_found(place: Path, tmp_path: Path, head: str, loss: str) -> None:
    steps = 200 if head == "rank" else 60
    result = train_reranker(
        recipe(place, tmp_path / "run", head=head, loss=loss, steps=steps),
        device="cpu",
        n_workers=1,
    )
    assert result is not None
    scores = result.scores
    assert scores["r_sum_oracle"] == pytest.approx(240, abs=1)
    assert scores["r_sum_first"] < 140
    assert scores["won"] > (0.9 if head == "pooled" else 0.3)
    assert result.best is not None
    config = json.loads((result.best / "config.json").read_text())
    assert config["models"] == ["made-up"]
    assert config["profiles"] == ["natural"]
    assert config["seen_in_training"] is False


def test_the_exported_reranker_finds_it_too(place: Path, tmp_path: Path) -> None:
    result = train_reranker(recipe(place, tmp_path / "run"), device="cpu", n_workers=1)
    assert result is not None
    assert result.best is not None
    loaded = NeuralReranker(export_reranker(result.best, tmp_path / "r", precisions=["int8"]))
    texts = ["bank rate", "library water storm", "bridge bank"]
    assert loaded.order("bank rate library", candidates(texts))[0] == 1
    network, _ = load_reranker(result.best)
    assert network.shape == loaded.config.architecture


def candidates(texts: list[str]) -> list[Candidate]:
    return [
        Candidate(text, Hypothesis((5, 6), -1.0, -1.0, 2), rank, 0.5)
        for rank, text in enumerate(texts)
    ]


LIGHT = """
[encoder]
start = "none"
[phrases]
files = ["{pairs}"]
least_words = 1
least_pairs = 1
[model]
n_candidates = 6
head_width = 4
[loss]
kind = "risk"
[optimizer]
lr = 1e-2
warmup_steps = 5
ema_decay = 0.9
[run]
max_steps = 60
precision = "fp32"
save_every = 0
"""


@pytest.fixture
def light(place: Path, tmp_path: Path) -> RerankerRecipe:
    """A recipe without an encoder; summaries of its pairs keep the word that marks the best."""
    pairs = tmp_path / "pairs.jsonl"
    source = "bank rate library water bridge storm"
    pairs.write_text(json.dumps({"source": source, "summary": "storm"}) + "\n")
    path = tmp_path / "light.toml"
    path.write_text(LIGHT.format(pairs=pairs))
    words = [f"train={place / 'train'}", f"valid={place / 'valid'}", f"output_dir={tmp_path / 'l'}"]
    return load_reranker_recipe(path, words)


def test_a_marked_candidate_is_found_without_an_encoder(
    light: RerankerRecipe, tmp_path: Path
) -> None:
    result = train_reranker(light, device="cpu", n_workers=1)
    assert result is not None
    assert result.scores["won"] > 0.9
    assert result.best is not None
    folder = export_reranker(result.best, tmp_path / "r", precisions=["int8"])
    files = {"config.json", "model.onnx", "phrases.npz"}
    assert {path.name for path in folder.iterdir()} == {*files, MANIFEST}
    loaded = NeuralReranker(folder)
    texts = ["bank rate", "library water storm", "bridge bank"]
    assert loaded.order("bank rate library", candidates(texts))[0] == 1
    network, config = load_reranker(result.best)
    numbers = ListNumbers.of(candidates(texts))
    features = torch.from_numpy(loaded._features("bank rate", texts, numbers))[None]
    ids = torch.ones(1, 3, 1, dtype=torch.int64)
    with torch.no_grad():
        logits = network(ids[:, 0], ids, features)[0].numpy()
    found = loaded.score("bank rate", candidates(texts))
    np.testing.assert_allclose(found, config["network_weight"] * logits, atol=1e-4)
    assert config["profiles"] == ["natural"]
    (folder / "phrases.npz").unlink()
    with pytest.raises(ModelFormatError, match=r"phrases\.npz is missing, and manifest"):
        NeuralReranker(folder)


def test_a_table_of_phrases_is_needed_and_kept(
    place: Path, light: RerankerRecipe, caplog: pytest.LogCaptureFixture
) -> None:
    lists = [f"train={place / 'train'}", f"valid={place / 'valid'}"]
    path = light.output.parent / "light.toml"
    with pytest.raises(ConfigError, match=r"phrases\.files or phrases\.table must be given"):
        load_reranker_recipe(path, [*lists, "phrases.files=[]"])
    with pytest.raises(ConfigError, match="head must be 'pooled', was 'rank'"):
        load_reranker_recipe(path, [*lists, "model.head=rank"])
    missing = load_reranker_recipe(path, [*lists, "phrases.table=nowhere.npz"])
    with pytest.raises(ConfigError, match=r"there is no table of phrases nowhere\.npz"):
        train_reranker(missing, device="cpu", n_workers=1, prepare_only=True)
    caplog.set_level("INFO", "sumfit")
    train_reranker(light, device="cpu", n_workers=1, prepare_only=True)
    assert re.search(r"phrases: ([\d,]+) of \1 bytes, 0 s left", caplog.text)
    table = light.output / "phrases.npz"
    before = table.stat().st_mtime_ns
    train_reranker(light, device="cpu", n_workers=1, prepare_only=True)
    assert table.stat().st_mtime_ns == before


def test_the_recipe_without_an_encoder_is_valid_and_leaves_the_report_alone() -> None:
    folder = Path(__file__).resolve().parents[2] / "recipes"
    found = load_reranker_recipe(folder / "reranker-light.toml", [])
    assert found.encoder.start == "none"
    data = [spec.data for spec in (*found.train, *found.valid)]
    assert all(name.endswith("/valid.jsonl.xz") for name in data)
    assert not any("/gigaword/" in name for name in data)
    assert all(name.endswith("/train.jsonl.xz") for name in found.phrases.files)


def test_a_resumed_run_is_the_run_that_was_never_stopped(place: Path, tmp_path: Path) -> None:
    def losses(folder: Path) -> list[float]:
        lines = (folder / "metrics.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        return [record["loss"] for record in records if record["kind"] == "train"]

    whole = train_reranker(recipe(place, tmp_path / "a", steps=40), device="cpu", n_workers=1)
    train_reranker(recipe(place, tmp_path / "b", steps=20), device="cpu", n_workers=1)
    with pytest.raises(ConfigError, match="already holds checkpoints; pass --resume"):
        train_reranker(recipe(place, tmp_path / "b", steps=40), device="cpu", n_workers=1)
    again = train_reranker(
        recipe(place, tmp_path / "b", steps=40), device="cpu", n_workers=1, resume=True
    )
    assert whole is not None
    assert again is not None
    assert losses(tmp_path / "b") == pytest.approx(losses(tmp_path / "a"), rel=1e-4)
    assert again.scores["r_sum"] == whole.scores["r_sum"]


def test_a_damaged_checkpoint_is_named_and_the_one_before_it_taken(
    place: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for steps in (1, 2):
        settings = recipe(place, tmp_path, steps=steps)
        train_reranker(settings, device="cpu", n_workers=1, resume=True)
    (tmp_path / "checkpoint-00000002" / "model.safetensors").write_bytes(b"")
    caplog.set_level("INFO")
    settings = recipe(place, tmp_path, steps=3)
    again = train_reranker(settings, device="cpu", n_workers=1, resume=True)
    assert again is not None
    assert again.step == 3
    assert "checkpoint-00000002 is damaged, going on from an earlier one" in caplog.text
    assert f"resuming from {tmp_path / 'checkpoint-00000001'}" in caplog.text


def shape_of(place: Path, **changes: Any) -> Any:
    from sumfit.models.pretrained import read_encoder
    from sumfit.training.reranking.recipe import NetworkSection

    encoder = read_encoder(place / "encoder")
    values = {"n_candidates": 4, "max_source": 24, "max_candidate": 12, "features": True}
    return NetworkSection(**{**values, **changes}).shape(encoder), encoder.tokenizer


def test_batches_hold_every_list_once_padded_and_cut(place: Path) -> None:
    shape, reader = shape_of(place)
    tokenizer = Tokenizer.from_file(reader)
    data = ListData([place / "train"], shape, reader=reader, n_workers=1)
    assert len(data) == 300
    assert data.n_candidates.max() == 4
    lists = Lists.joined([Lists.load(part_path(place / "train", i)) for i in range(2)])
    first = np.concatenate([[0], np.cumsum(lists.n_candidates)[:-1]])
    ends = np.concatenate([[0], np.cumsum(lists.candidate_lengths)])
    stream = ListStream(data, BatchSection(tokens=500), seed=1, rank=0, n_processes=1, accumulate=1)
    plan = stream.plan(0)
    assert sorted(np.concatenate(plan).tolist()) == list(range(300))
    batch = data.batch(plan[3])
    for row, number in enumerate(plan[3]):
        n_all = int(lists.n_candidates[number])
        whole = slice(first[number], first[number] + n_all)
        places = mbr_places(lists.scores[whole], lists.expected_f1[whole], weight=100.0)
        n = min(4, n_all)
        assert (np.diff(lists.expected_f1[whole][places]) <= 0).all()  # scores are equal here
        for k in range(n):
            place_of = first[number] + places[k]
            words = lists.candidate_ids[ends[place_of] : ends[place_of + 1]].tolist()
            ids = tokenizer.encode(tokenizer.decode(words))[:12]
            got = batch["candidate_ids"][row, k]
            assert got[got != 0].tolist() == ids
            assert batch["gains"][row, k] == lists.gains[place_of]
            assert batch["expected_f1"][row, k] == lists.expected_f1[place_of]
        assert (batch["candidate_ids"][row, n:] == 0).all()
        assert (batch["features"][row, n:] == 0).all()
    for numbers in plan_batches(data, np.arange(300), BatchSection(tokens=500)):
        tensors = data.batch(numbers)
        cost = tensors["source_ids"].numel() + tensors["candidate_ids"].numel()
        assert cost <= 500 or len(numbers) == 1
    taken = [next(stream.steps(Position(0, i))).items.tolist() for i in range(3)]
    assert taken == [numbers.tolist() for numbers in plan[:3]]


def test_the_first_of_equally_good_candidates_is_the_target(place: Path) -> None:
    from sumfit.training.reranking.recipe import RankingSection

    tensors = {
        "overlaps": torch.tensor([[2, 3, 3, 9]]),
        "gains": torch.tensor([[0.5, 0.1, 0.2, 0.9]]),
    }
    there = torch.tensor([[True, True, True, False]])
    assert targets(tensors, there, RankingSection(target="overlap")).tolist() == [1]
    assert targets(tensors, there, RankingSection(target="gain")).tolist() == [0]


def test_lists_of_two_tokenizers_are_refused(place: Path, tmp_path: Path) -> None:
    write_lists(tmp_path / "other", Tokenizer.train(TEXTS, vocab_size=290), n=4, seed=1)
    shape, reader = shape_of(place)
    with pytest.raises(IncompatibleModelError, match="of a model with another tokenizer than"):
        ListData([place / "train", tmp_path / "other"], shape, reader=reader, n_workers=1)


def test_a_recipe_needs_lists_of_both_kinds(place: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text("[run]\nmax_steps = 1\n")
    with pytest.raises(ConfigError, match="train needs at least one directory"):
        load_reranker_recipe(path, [])
    with pytest.raises(ConfigError, match="l cannot be both train and valid"):
        load_reranker_recipe(path, ["train=l", "valid=l"])
    with pytest.raises(ConfigError, match=r"loss\.kind must be one of"):
        load_reranker_recipe(path, ["train=l", "valid=v", "loss.kind=x"])


@pytest.mark.parametrize(
    "name",
    [
        "reranker",
        "reranker-paper",
        "reranker-no-smoothing",
        "reranker-no-rank",
        "reranker-no-pretraining",
    ],
)
def test_the_recipes_are_valid_and_differ_as_they_say(name: str) -> None:
    folder = Path(__file__).resolve().parents[2] / "recipes"
    found = load_reranker_recipe(folder / f"{name}.toml", [])
    assert found.name == name
    assert [spec.fold for spec in found.train] == ["0/2", "1/2"]
    assert (found.model.head == "pooled") == (name == "reranker")
    if name != "reranker":
        assert found.loss.kind == "one-hot"
        assert (found.loss.label_smoothing == 0) == (name == "reranker-no-smoothing")
        assert found.model.rank_embedding == (name != "reranker-no-rank")
        assert found.encoder.pretrained == (name != "reranker-no-pretraining")


def test_the_command_line_exports_a_reranker_even_from_pieces(place: Path, tmp_path: Path) -> None:
    from sumfit.cli.app import run
    from sumfit.training.pieces import write_pieces

    result = train_reranker(recipe(place, tmp_path / "run", steps=2), device="cpu", n_workers=1)
    assert result is not None
    write_pieces(result.checkpoint, tmp_path / "pieces")
    assert run(["export", str(tmp_path / "pieces"), "-o", str(tmp_path / "r")]) == 0
    assert NeuralReranker(tmp_path / "r").n_candidates == K
    config = json.loads((tmp_path / "r" / "config.json").read_text())
    assert str(tmp_path) not in json.dumps(config)
    assert config["lists"] == ["made-up: made-up"]


def test_features_are_those_of_the_run_time(place: Path) -> None:
    shape, reader = shape_of(place)
    data = ListData([place / "train"], shape, reader=reader, n_workers=1)
    lists = Lists.load(part_path(place / "train", 0)).given(most=4, weight=100.0)
    tokenizer = Tokenizer.from_file(reader)
    ends = np.cumsum(lists.n_candidates)
    ids = np.split(lists.candidate_ids, np.cumsum(lists.candidate_lengths)[:-1].tolist())
    for row in range(5):
        some = range(ends[row] - lists.n_candidates[row], ends[row])
        listed = [
            Candidate(
                tokenizer.decode(ids[k].tolist()),
                Hypothesis(tuple(ids[k].tolist()), -1.0, -1.0, 1),
                int(lists.ranks[k]),
                float(lists.expected_f1[k]),
            )
            for k in some
        ]
        words = [one.text.split() for one in listed]
        expected = candidate_features(words, ListNumbers.of(listed), temperature=2.0)
        found = data.batch(np.array([row]))["features"][0].numpy()
        np.testing.assert_allclose(found, expected, atol=1e-5)
        assert len(set(found[:, 5])) == len(listed)  # each has its place
        assert found[:, 6].argmax() == 0  # scores are equal: the greatest F1 comes first


def test_what_is_chosen_is_never_worse_than_minimum_bayes_risk(place: Path, tmp_path: Path) -> None:
    """An untrained network knows nothing, so its logits are left out, or do no harm."""
    from sumfit.training.reranking.selection import Weights, weight_choices

    words = [f"train={place / 'valid'}", f"valid={place / 'train'}", f"output_dir={tmp_path}"]
    path = tmp_path / "r.toml"
    path.write_text(RECIPE.format(encoder=place / "encoder", head="pooled", loss="risk", steps=1))
    result = train_reranker(load_reranker_recipe(path, words), device="cpu", n_workers=1)
    assert result is not None
    scores = result.scores
    assert scores["r_sum"] >= max(scores["r_sum_mbr"], scores["r_sum_network"])
    assert scores["r_sum"] <= scores["r_sum_oracle"]
    lists = Lists.joined([Lists.load(part_path(place / "train", i)) for i in range(2)])
    ends = np.cumsum(lists.n_candidates)
    starts = ends - lists.n_candidates
    best = [a + lists.expected_f1[a:b].argmax() for a, b in zip(starts, ends, strict=True)]
    assert scores["r_sum_mbr"] == pytest.approx(300 * lists.gains[best].mean(), abs=1e-3)
    assert scores["r_sum_first"] == pytest.approx(300 * lists.gains[starts].mean(), abs=1e-3)
    assert result.best is not None
    config = json.loads((result.best / "config.json").read_text())
    for name in ("network_weight", "weight", "f1_weight"):
        assert config[name] == scores[name]
    grid = SelectionSection(weights=(0.0, 0.5), f1_weights=(0.0, 20.0))
    assert weight_choices(grid, prior=0.0, order_weight=0.0) == [
        Weights(1.0, 0.0, 0.0), Weights(1.0, 0.5, 0.0), Weights(1.0, 0.0, 20.0),
        Weights(1.0, 0.5, 20.0),
    ]  # fmt: skip
    found = weight_choices(grid, prior=0.5, order_weight=100.0)
    assert (found[0], found[-1]) == (Weights(1.0, 0.5, 50.0), Weights(0.0, 1.0, 100.0))
    assert len(found) == 6


def test_weights_found_otherwise_are_taken_as_they_are(place: Path, tmp_path: Path) -> None:
    words = [f"train={place / 'valid'}", f"valid={place / 'train'}", f"output_dir={tmp_path}"]
    words += ["selection.weights=[0.5]", "selection.f1_weights=[1e6]"]  # which drowns the network
    path = tmp_path / "r.toml"
    path.write_text(RECIPE.format(encoder=place / "encoder", head="pooled", loss="risk", steps=1))
    result = train_reranker(load_reranker_recipe(path, words), device="cpu", n_workers=1)
    assert result is not None
    scores = result.scores
    found = [scores[name] for name in ("network_weight", "weight", "f1_weight")]
    assert found == [1.0, 0.5, 1e6]
    assert scores["r_sum"] == pytest.approx(scores["r_sum_mbr"])
    assert scores["r_sum"] < scores["r_sum_network"]


def test_the_light_recipe_learns_from_no_text_that_it_is_measured_on() -> None:
    folder = Path(__file__).resolve().parents[2] / "recipes"
    found = load_reranker_recipe(folder / "reranker-light.toml", [])
    learned, measured = ({spec.data for spec in some} for some in (found.train, found.valid))
    assert not learned & measured
    for name in learned | measured:
        assert name.endswith("/valid.jsonl.xz")
        assert "gigaword" not in name
    assert found.selection.is_settled
    assert found.counts_phrases
    assert all("/train." in name for name in found.phrases.files)


def test_a_network_with_a_prior_begins_as_minimum_bayes_risk(place: Path, tmp_path: Path) -> None:
    words = [f"train={place / 'valid'}", f"valid={place / 'train'}", f"output_dir={tmp_path}"]
    words += ["loss.prior=50", "optimizer.lr=1e-9", "selection.weights=[0.0]"]
    path = tmp_path / "r.toml"
    path.write_text(RECIPE.format(encoder=place / "encoder", head="pooled", loss="risk", steps=1))
    result = train_reranker(
        load_reranker_recipe(path, [*words, "selection.f1_weights=[0.0]"]),
        device="cpu",
        n_workers=1,
    )
    assert result is not None
    assert result.scores["r_sum_network"] == pytest.approx(result.scores["r_sum_mbr"])
    # The greatest F1 takes all of the softmax, so the loss is what its choice costs.
    assert result.scores["loss"] == pytest.approx(
        (result.scores["r_sum_oracle"] - result.scores["r_sum_mbr"]) / 300, abs=1e-3
    )
    with pytest.raises(ConfigError, match="prior must be at least 0 and finite, was -1"):
        load_reranker_recipe(path, [*words, "loss.prior=-1"])


def test_lists_of_another_kind_are_refused(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(place / "valid", other)
    meta = json.loads((other / "meta.json").read_text())
    (other / "meta.json").write_text(json.dumps({**meta, "after_best": 128}))
    wanted = recipe(place, tmp_path / "run")
    mixed = dataclasses.replace(wanted, valid=(NbestSpec(lists=str(other)),))
    with pytest.raises(IncompatibleModelError, match=r"with after_best=128, .* with 0; train on"):
        train_reranker(mixed, device="cpu", n_workers=1)
    (other / "meta.json").write_text(json.dumps({**meta, "format": "sumfit-nbest-1"}))
    with pytest.raises(DataFormatError, match="make the lists again"):
        train_reranker(mixed, device="cpu", n_workers=1)


def test_training_goes_on_from_another_reranker(place: Path, tmp_path: Path) -> None:
    first = train_reranker(recipe(place, tmp_path / "a"), device="cpu", n_workers=1)
    assert first is not None
    path = tmp_path / "b.toml"
    path.write_text('[optimizer]\nlr = 1e-6\n[run]\nmax_steps = 1\nprecision = "fp32"\n')
    words = [f"train={place / 'train'}", f"valid={place / 'valid'}", f"output_dir={tmp_path / 'b'}"]
    wanted = load_reranker_recipe(path, [*words, f"start.reranker={first.best}"])
    assert wanted.model.n_candidates == K
    assert wanted.model.features is False
    again = train_reranker(wanted, device="cpu", n_workers=1)
    assert again is not None
    assert again.scores["r_sum"] == pytest.approx(first.scores["r_sum"], abs=1)
    assert again.best is not None
    assert load_reranker(again.best)[0].shape == load_reranker(first.best)[0].shape  # type: ignore[arg-type]
    smaller = load_reranker_recipe(
        path, [*words[:2], f"start.reranker={first.best}", "model.n_candidates=3"]
    )
    with pytest.raises(IncompatibleModelError, match=r"rank\.weight of .*best is \(6, 16\), this"):
        train_reranker(smaller, device="cpu", n_workers=1)


def test_training_goes_on_without_an_encoder(light: RerankerRecipe, tmp_path: Path) -> None:
    first = train_reranker(light, device="cpu", n_workers=1)
    assert first is not None
    assert first.best is not None
    words = [f"train={light.train[0].lists}", f"valid={light.valid[0].lists}"]
    words += [f"output_dir={tmp_path / 'again'}", f"start.reranker={first.best}"]
    path = tmp_path / "again.toml"
    path.write_text('[run]\nmax_steps = 1\nprecision = "fp32"\n')
    again = train_reranker(load_reranker_recipe(path, words), device="cpu", n_workers=1)
    assert again is not None
    assert again.scores["won"] > 0.9
    config = json.loads((first.best / "config.json").read_text())
    (first.best / "config.json").write_text(json.dumps({**config, "features": ["words"]}))
    other = dataclasses.replace(
        load_reranker_recipe(path, words), output_dir=str(tmp_path / "other")
    )
    with pytest.raises(IncompatibleModelError, match=r"reads features \['words'\], here"):
        train_reranker(other, device="cpu", n_workers=1)
