"""Training on n-best lists, as a stage of the trainer: which lists it takes, and that it learns."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from sumfit.data.batching import build_batch
from sumfit.data.corpus import PackedCorpus
from sumfit.errors import ConfigError
from sumfit.losses.risk import risk_objective
from sumfit.training import load_recipe, train
from sumfit.training.loader import to_tensors
from sumfit.training.nbest.candidates import list_problems, read_candidates
from sumfit.training.nbest.lists import FORMAT, ListMeta, Lists, part_path, write_meta
from sumfit.training.recipe import recipe_problems
from sumfit.training.systems import dat as dat_system

from .conftest import free_port, read_metrics, start_training
from .test_processes import assert_same_curve, curve

RISK = [
    "loss.risk_weight=20",
    "loss.mass_weight=0.5",
    "loss.glance_start=0",
    "loss.glance_end=0",
    "run.log_every=1",
    "validation.n_loss=4",
]


def lists_of(corpus: PackedCorpus, items: np.ndarray, *, gain: float = 0.8) -> Lists:
    """Two candidates of each text, of its last words and its first; the second one gains more."""
    ids, lengths = list[int](), list[int]()
    for item in items:
        source = corpus.item(int(item))[0].tolist()
        for words in (source[-4:], source[:3]):
            ids += words
            lengths.append(len(words))
    n_all = len(lengths)
    values = dict.fromkeys((field.name for field in dataclasses.fields(Lists)), np.zeros(n_all))
    values |= {
        "items": items.astype(np.int64),
        "limits": np.full(len(items), 4),
        "n_candidates": np.full(len(items), 2, np.int16),
        "source_lengths": np.zeros(len(items), np.int32),
        "source_ids": np.zeros(0, np.int32),
        "candidate_lengths": np.array(lengths, np.int32),
        "candidate_ids": np.array(ids, np.int32),
        "log_probs": np.full(n_all, -9, np.float32),
        "scores": np.tile(np.float32([0, -8]), len(items)),
        "gains": np.tile(np.float32([0.1, gain]), len(items)),
    }
    return Lists(**values)


def write_lists(folder: Path, corpus: PackedCorpus, parts: list[Lists], **changes: object) -> Path:
    values: dict[str, object] = {
        "format": FORMAT,
        "model": "m",
        "model_sha256": "0",
        "tokenizer_sha256": corpus.meta.tokenizer_sha256,
        "data_sha256": corpus.fingerprint,
        "data": "train split: made-up (natural)",
        "settings": json.dumps({"split": "train"}),
        "n_items": 1000,
        "n_parts": 4,
    }
    folder.mkdir(parents=True)
    write_meta(folder, ListMeta(**{**values, **changes}))  # type: ignore[arg-type]
    for number, part in enumerate(parts):
        part.save(part_path(folder, 2 * number))  # part 1 was not made so far
    return folder


@pytest.fixture(scope="module")
def corpus(tiny_recipe: Path) -> PackedCorpus:
    return PackedCorpus.open(load_recipe(tiny_recipe).corpus, "train")


@pytest.fixture(scope="module")
def lists(corpus: PackedCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lists of half of the texts, in two of four parts and no order."""
    items = np.random.default_rng(3).permutation(len(corpus))[: len(corpus) // 2]
    parts = [lists_of(corpus, part) for part in np.array_split(items, 2)]
    return write_lists(tmp_path_factory.mktemp("l") / "lists", corpus, parts)


def run(tiny_recipe, output, lists, *words, **options):
    words = (f"output_dir={output}", f'data.lists=["{lists}"]', *RISK, *words)
    return train(load_recipe(tiny_recipe, words), device="cpu", **options)


def test_lists_in_parts_and_directories_become_one_table(corpus, lists, tmp_path, caplog):
    caplog.set_level("INFO", logger="sumfit")
    other = write_lists(
        tmp_path / "other", corpus, [lists_of(corpus, np.arange(len(corpus)), gain=0.3)]
    )
    found = read_candidates([str(lists), str(other)], corpus)
    n_lists = len(corpus) // 2
    assert f"{lists}: 2 of 4 parts, {n_lists} lists" in caplog.text
    assert f"{n_lists} lists left out: an earlier one is of the same text" in caplog.text
    assert found.items.tolist() == list(range(len(corpus)))
    assert found.ids.dtype == np.uint16
    first = set(read_candidates([str(lists)], corpus).items.tolist())
    assert len(first) == n_lists
    batch = found.gather(found.items, longest=np.full(len(corpus), 9))
    for item in found.items:
        source = corpus.item(item)[0].tolist()
        assert [
            ids[:n].tolist() for ids, n in zip(batch.ids[item], batch.n_pieces[item], strict=True)
        ] == [
            source[-4:],
            source[:3],
        ]
        assert batch.gains[item].tolist() == pytest.approx([0.1, 0.8 if item in first else 0.3])
    assert np.unique(batch.bonuses, axis=0).tolist() == [[9.0, 1.0]]


def test_candidates_are_cut_to_the_graph_and_split_with_their_texts(tiny_recipe, corpus, lists):
    options = dataclasses.replace(
        load_recipe(tiny_recipe).batch_options, min_vertices=5, max_vertices=5
    )
    found = read_candidates([str(lists)], corpus)
    whole = build_batch(corpus, found.items[:6], options, candidates=found)
    assert whole.candidates is not None
    assert whole.candidates.n_pieces.tolist() == [[0, 3]] * 6  # three inner vertices
    tensors = to_tensors(whole, pin=False)
    assert {name for name, value in tensors.items() if len(value) != 6} == set()
    half = to_tensors(build_batch(corpus, found.items[:3], options, candidates=found), pin=False)
    for name in ("candidate_ids", "candidate_pieces", "bonuses", "gains"):
        torch.testing.assert_close(tensors[name][:3], half[name])


def test_a_run_learns_to_prefer_the_better_candidate_and_resumes_on_its_curve(
    tiny_recipe, corpus, lists, tmp_path, caplog
):
    caplog.set_level("INFO", logger="sumfit")
    words = ["run.max_steps=8", "run.save_every=4", "model.dropout=0.0", "optimizer.lr=1e-2"]
    whole = run(tiny_recipe, tmp_path / "whole", lists, *words)
    n_lists = len(corpus) // 2
    assert f"{len(corpus) - n_lists} training pairs left out: without an n-best list" in caplog.text
    assert whole.step == 8
    records = read_metrics(tmp_path / "whole")
    gains = [record["gain"] for record in records]
    assert gains[0] < 0.45 < gains[-1]  # equal scores are worth 0.45
    run(tiny_recipe, tmp_path / "cut", lists, *words[1:], "run.max_steps=4")
    run(tiny_recipe, tmp_path / "cut", lists, *words, resume=True)
    assert curve(tmp_path / "cut") == curve(tmp_path / "whole")


def test_two_processes_train_as_one_that_accumulates(tiny_recipe, lists, tmp_path):
    words = [f'data.lists=["{lists}"]', *RISK, "run.max_steps=3", "run.save_every=0"]
    output, port = tmp_path / "two", free_port()
    pair = [
        start_training(tiny_recipe, f"output_dir={output}", *words, rank=rank, size=2, port=port)
        for rank in range(2)
    ]
    run(tiny_recipe, tmp_path / "one", lists, *words[1:], "run.accumulate=2")
    for process in pair:
        out, _ = process.communicate(timeout=400)
        assert process.returncode == 0, out
    assert_same_curve(curve(tmp_path / "one"), curve(output), rel=1e-4)
    gains = [
        [record["gain"] for record in read_metrics(folder)] for folder in (tmp_path / "one", output)
    ]
    assert gains[0] == pytest.approx(gains[1], rel=1e-4)
    assert gains[0][0] > 0


def test_the_halves_of_a_batch_that_does_not_fit_give_its_gradient(
    tiny_recipe, lists, tmp_path, monkeypatch
):
    words = ["run.max_steps=1", "model.dropout=0.0"]
    run(tiny_recipe, tmp_path / "whole", lists, *words)
    calls = []

    def fails_once(model, batch, **options):
        calls.append(len(batch["gains"]))
        if len(calls) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return risk_objective(model, batch, **options)

    monkeypatch.setattr(dat_system, "risk_objective", fails_once)
    run(tiny_recipe, tmp_path / "split", lists, *words)
    assert calls[0] == calls[1] + calls[2]
    one, two = (read_metrics(tmp_path / name)[0] for name in ("whole", "split"))
    for name in ("loss", "nll", "gain", "grad_norm"):
        assert one[name] == pytest.approx(two[name], rel=1e-4), name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["data.lists=[]"],
            r"data\.lists names none: loss\.risk_weight 20, loss\.mass_weight 0\.5",
        ),
        (["loss.risk_weight=0", "loss.mass_weight=0"], "but all are 0; set one of them, or leave"),
        (["loss.preference_weight=1"], "n_scorer_layers is 0: there is no scorer to train"),
        (["loss.verdict_weight=1"], "verdict_width is 0: there is no verdict to train"),
        (["loss.verdict_weight=-1"], "verdict_weight must be 0 or more, was -1"),
        (["model.verdict_width=8"], "verdict_width 8 needs a scorer, but n_scorer_layers is 0"),
        (["loss.preference_weight=-1"], "preference_weight must be 0 or more, was -1"),
        (["loss.risk_weight=-1"], "risk_weight must be 0 or more, was -1"),
        (["loss.glance_start=0.5"], r"glance_start must be 0 with data\.lists, was 0\.5"),
        (["loss.glance_end=0.1"], r"glance_end must be 0 with data\.lists, was 0\.1"),
        (["loss.ngram_weight=1"], r"ngram_weight must be 0 with data\.lists, was 1"),
        (["loss.denoise_share=0.25"], r"denoise_share must be 0 with data\.lists, was 0\.25"),
        (["system=ctc"], r"data\.lists are for system dat alone, was ctc; leave them out"),
    ],
)
def test_what_does_not_go_with_lists_is_refused(tiny_recipe, words, message):
    with pytest.raises(ConfigError, match=message):
        load_recipe(tiny_recipe, ['data.lists=["l"]', *RISK, *words])


def test_lists_that_do_not_fit_the_corpus_are_all_named(tiny_recipe, corpus, tmp_path):
    part = [lists_of(corpus, np.arange(3))]
    changes = {
        "tokenizer": {"tokenizer_sha256": "f" * 64},
        "corpus": {"data_sha256": "e" * 64, "data": "news.jsonl (natural)"},
        "split": {"settings": json.dumps({"split": "valid"})},
        "settings": {"settings": "none"},
    }
    for name, change in changes.items():
        write_lists(tmp_path / name, corpus, part, **change)
    write_lists(tmp_path / "empty", corpus, [])
    write_lists(tmp_path / "good", corpus, part)
    names = [*changes, "empty", "absent", "good"]
    given = ", ".join(f'"{tmp_path / name}"' for name in names)
    words = [f"data.lists=[{given}]", *RISK]
    home = load_recipe(tiny_recipe).corpus
    expected = [
        f"tokenizer are in the pieces of another tokenizer (ffffffffffff) than {home} "
        f"({corpus.meta.tokenizer_sha256[:12]}); make them with a model of that tokenizer",
        f"corpus were made of other texts (news.jsonl (natural)) than those of {home}; make them "
        f"with corpus={home}",
        "split are of the valid split, which is not to be trained on; make them with split=train",
        "settings: Expecting value: line 1 column 1 (char 0)",
        "empty holds none of its 4 parts yet; make them with the same sumfit nbest command",
        f"absent: {tmp_path / 'absent'} holds no n-best lists (meta.json: No such file or "
        "directory); make them with: sumfit nbest",
    ]
    expected = [f"data.lists {tmp_path}/{text}" for text in expected]
    assert recipe_problems(tiny_recipe, words) == expected
    # A mistake of the recipe does not hide them, and training refuses them as well.
    assert recipe_problems(tiny_recipe, [*words, "seed=-1"])[2:] == expected
    with pytest.raises(ConfigError, match="holds none of its 4 parts"):
        run(tiny_recipe, tmp_path / "run", tmp_path / "empty")


def test_lists_need_their_corpus(tmp_path):
    problem = f"need the packed corpus that they were made of: {tmp_path} is not a packed corpus"
    assert problem in list_problems(["l"], tmp_path)[0]
    assert list_problems([], tmp_path) == []
