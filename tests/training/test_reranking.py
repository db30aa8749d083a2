"""Training of rerankers: a task that can be learned is learned, and a run can be stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sumfit.errors import ConfigError, IncompatibleModelError, ModelFormatError
from sumfit.models import DAT, DATConfig, save_model
from sumfit.rerank.neural import NeuralReranker
from sumfit.text import Tokenizer
from sumfit.training.loader import Position
from sumfit.training.nbest.lists import FORMAT, ListMeta, Lists, part_path, write_meta
from sumfit.training.reranking.data import ListData, ListStream, plan_batches
from sumfit.training.reranking.files import export_reranker, load_reranker
from sumfit.training.reranking.loop import train_reranker
from sumfit.training.reranking.recipe import (
    BatchSection,
    RerankerRecipe,
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
        consensus=np.full(n_all, 0.5, np.float32),
        n_words=np.full(n_all, 4, np.int16),
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
    from sumfit.hypothesis import Hypothesis

    result = train_reranker(recipe(place, tmp_path / "run"), device="cpu", n_workers=1)
    assert result is not None
    assert result.best is not None
    loaded = NeuralReranker(export_reranker(result.best, tmp_path / "r", precisions=["int8"]))
    texts = ["bank rate", "library water storm", "bridge bank"]
    nbest = [Hypothesis((5, 6), -1.0, -1.0, 2)] * 3
    assert loaded.rerank("bank rate library", texts, nbest)[0] == 1
    network, _ = load_reranker(result.best)
    assert network.shape == loaded.config.architecture


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
    from sumfit.hypothesis import Hypothesis

    result = train_reranker(light, device="cpu", n_workers=1)
    assert result is not None
    assert result.scores["won"] > 0.9
    assert result.best is not None
    folder = export_reranker(result.best, tmp_path / "r", precisions=["int8"])
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.onnx", "phrases.npz"}
    loaded = NeuralReranker(folder)
    texts = ["bank rate", "library water storm", "bridge bank"]
    nbest = [Hypothesis((5, 6), -1.0, -1.0, 2)] * 3
    assert loaded.rerank("bank rate library", texts, nbest)[0] == 1
    network, config = load_reranker(result.best)
    scores = np.array([one.score for one in nbest])
    features = torch.from_numpy(loaded._features("bank rate", texts, nbest, scores))[None]
    ids = torch.ones(1, 3, 1, dtype=torch.int64)
    with torch.no_grad():
        logits = network(ids[:, 0], ids, features)[0].numpy()
    np.testing.assert_allclose(loaded.score("bank rate", texts, nbest), logits, atol=1e-4)
    assert config["profiles"] == ["natural"]
    (folder / "phrases.npz").unlink()
    with pytest.raises(ModelFormatError, match=r"phrases\.npz is missing; the directory of a re"):
        NeuralReranker(folder)


def test_a_table_of_phrases_is_needed_and_kept(place: Path, light: RerankerRecipe) -> None:
    lists = [f"train={place / 'train'}", f"valid={place / 'valid'}"]
    path = light.output.parent / "light.toml"
    with pytest.raises(ConfigError, match=r"phrases\.files or phrases\.table must be given"):
        load_reranker_recipe(path, [*lists, "phrases.files=[]"])
    with pytest.raises(ConfigError, match="head must be 'pooled', was 'rank'"):
        load_reranker_recipe(path, [*lists, "model.head=rank"])
    missing = load_reranker_recipe(path, [*lists, "phrases.table=nowhere.npz"])
    with pytest.raises(ConfigError, match=r"there is no table of phrases nowhere\.npz"):
        train_reranker(missing, device="cpu", n_workers=1, prepare_only=True)
    train_reranker(light, device="cpu", n_workers=1, prepare_only=True)
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
        n = min(4, int(lists.n_candidates[number]))
        for k in range(n):
            place_of = first[number] + k
            words = lists.candidate_ids[ends[place_of] : ends[place_of + 1]].tolist()
            ids = tokenizer.encode(tokenizer.decode(words))[:12]
            got = batch["candidate_ids"][row, k]
            assert got[got != 0].tolist() == ids
            assert batch["gains"][row, k] == lists.gains[place_of]
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
