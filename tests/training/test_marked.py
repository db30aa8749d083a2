"""Marks of readers become lists of a corpus, and a run learns from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sumfit.cli.app import run
from sumfit.data.corpus import PackedCorpus
from sumfit.errors import DataFormatError, IncompatibleModelError
from sumfit.models.checkpoint import load_model, load_weights
from sumfit.rerank.scorer import ChoiceWeights
from sumfit.text import Tokenizer
from sumfit.training import load_recipe, train
from sumfit.training.nbest.candidates import read_candidates
from sumfit.training.nbest.lists import read_meta
from sumfit.training.nbest.marked import write_marked_lists
from sumfit.training.prepare import pack

from .conftest import TINY, read_metrics

TEXTS = [
    "The council of Odell closed the old bridge on Monday because its piers are cracked.",
    "Two divers found a bronze bell in the harbour, and the museum will show it in May.",
    "The bakery at the corner has sold its last loaf; the owner retires after fifty years.",
    "A storm cut the power of nine villages, and crews hope to mend the lines by Friday.",
]
SUMMARIES = [
    "Odell closes its old bridge",
    "Divers find a bronze bell in the harbour",
    "Bakery closes as its owner retires",
    "Storm cuts the power of nine villages",
]


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of marks, with the pairs as a set of a recipe beside it."""
    folder = tmp_path_factory.mktemp("marked")
    records = [
        {
            "source": text,
            "summary": summary,
            "candidates": [" ".join(text.split()[:4]), summary.lower()],
            "fit": [0.5 if place == 3 else False, place % 2 == 0],
        }
        for place, (text, summary) in enumerate(zip(TEXTS, SUMMARIES, strict=True))
    ]
    path = folder / "marked.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "other.jsonl").write_text(
        json.dumps(
            {"source": "No pair of the corpus.", "summary": "x", "candidates": [], "fit": []}
        )
    )
    sets = '[[data.sets]]\nname = "marked"\ntrain = "marked.jsonl"\n'
    recipe = TINY.replace('[[data.sets]]\nname = "made-up"\nn_synthetic = 160\n', sets)
    recipe = recipe.replace("n_decoder_layers = 1", "n_decoder_layers = 1\nn_scorer_layers = 1")
    (folder / "recipe.toml").write_text(recipe)
    learned = load_recipe(folder / "recipe.toml", [f"data_dir={folder}"])
    pack(learned, output=folder / "corpus", n_workers=1)
    return path


def test_marks_become_lists_of_the_corpus(
    marked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = marked.parent / "corpus"
    assert run(["data", "marks", str(marked), str(corpus), "-o", str(tmp_path / "lists")]) == 0
    assert capsys.readouterr().out == "4 lists of 8 candidates; 2 of them marked as fit\n"
    split = PackedCorpus.open(corpus, "train")
    tokenizer = Tokenizer.from_file(corpus / "tokenizer.json")
    found = read_candidates([str(tmp_path / "lists")], split)
    assert found.items.tolist() == [0, 1, 2, 3]
    assert found.counts.tolist() == [2] * 4
    written = {}
    for item in range(4):
        first = int(found.starts[item])
        lines = [
            tokenizer.decode(found.ids[found.offsets[k] : found.offsets[k + 1]].tolist())
            for k in range(first, first + 2)
        ]
        assert found.bonuses[first : first + 2].tolist() == pytest.approx(
            [ChoiceWeights().length * len(line) for line in lines]
        )
        summary = tokenizer.decode(split.item(item)[1].tolist())
        assert lines[1] == summary.lower()
        written[summary] = found.gains[first : first + 2].tolist()
    assert written == {
        summary: [0.5 if place == 3 else 0.0, float(place % 2 == 0)]
        for place, summary in enumerate(SUMMARIES)
    }


def test_a_run_learns_from_marks(marked: Path, tmp_path: Path) -> None:
    write_marked_lists(marked, marked.parent / "corpus", tmp_path / "lists")
    words = [
        f"data.corpus={marked.parent / 'corpus'}",
        f'data.lists=["{tmp_path / "lists"}"]',
        "loss.scorer_weight=1",
        "loss.preference_weight=2",
        "loss.glance_start=0",
        "loss.glance_end=0",
        "optimizer.lr=1e-2",
        "model.dropout=0",
        "run.max_steps=40",
        "run.log_every=1",
        f"output_dir={tmp_path / 'run'}",
    ]
    train(load_recipe(marked.parent / "recipe.toml", words), device="cpu")
    records = read_metrics(tmp_path / "run")
    assert records[-1]["prefers"] == 1.0
    assert records[-1]["scorer"] < records[0]["scorer"]


def test_a_run_begins_a_verdict_that_its_start_lacks(marked: Path, tmp_path: Path) -> None:
    write_marked_lists(marked, marked.parent / "corpus", tmp_path / "lists")
    words = [
        f"data.corpus={marked.parent / 'corpus'}",
        "loss.scorer_weight=1",
        "loss.glance_start=0",
        "loss.glance_end=0",
        "run.max_steps=2",
        f"output_dir={tmp_path / 'first'}",
    ]
    train(load_recipe(marked.parent / "recipe.toml", words), device="cpu")
    first = tmp_path / "first" / "checkpoint-00000002"
    words = [
        *words[:-2],
        f'data.lists=["{tmp_path / "lists"}"]',
        f"start.model={first}",
        "start.minilm=",
        "model.verdict_width=8",
        "loss.verdict_weight=1",
        "optimizer.lr=1e-2",
        "run.max_steps=40",
        "run.log_every=1",
        f"output_dir={tmp_path / 'second'}",
    ]
    train(load_recipe(marked.parent / "recipe.toml", words), device="cpu")
    records = read_metrics(tmp_path / "second")
    assert records[-1]["verdict"] < 0.7 * records[0]["verdict"]
    second = tmp_path / "second" / "checkpoint-00000040"
    learned = load_model(second)
    assert learned.verdict is not None
    assert learned.verdict.inner.weight.shape == (8, 3 * learned.config.width)
    with pytest.raises(IncompatibleModelError, match=r"verdict\.inner\.bias is \(8,\) there"):
        load_weights(load_model(first), second / "model.safetensors")


def test_texts_that_the_corpus_lacks_are_counted(marked: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.jsonl"
    record = {"source": TEXTS[0], "summary": SUMMARIES[0], "candidates": [], "fit": []}
    both.write_text(
        json.dumps(record)
        + "\n"
        + marked.read_text() * 2
        + (marked.parent / "other.jsonl").read_text()
    )
    report = write_marked_lists(both, marked.parent / "corpus", tmp_path / "lists")
    assert dict(report.dropped) == {
        "an earlier line is of the same text": 4,
        "not in the corpus": 1,
        "without candidates": 1,
    }
    with pytest.raises(IncompatibleModelError, match="holds lists already; name another"):
        write_marked_lists(both, marked.parent / "corpus", tmp_path / "lists")
    with pytest.raises(DataFormatError, match=r"none of the 1 texts of .* pack their pairs first"):
        write_marked_lists(
            marked.parent / "other.jsonl", marked.parent / "corpus", tmp_path / "none"
        )
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": None}, "marks.jsonl:1: source must be a text, was None"),
        ({"candidates": "x"}, "candidates must be a list of texts, was 'x'"),
        (
            {"fit": [2]},
            r"fit must hold true, false or a number from 0 to 1 for each of the 1 candidates, "
            r"was \[2\]",
        ),
        ({"fit": []}, r"fit must hold true, false or a number from 0 to 1 .* was \[\]"),
        ({"fit": ["yes"]}, r"fit must hold true, false or a number from 0 to 1 .* was \['yes'\]"),
    ],
)
def test_a_line_of_another_form_is_named(
    marked: Path, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    record = {"source": TEXTS[0], "summary": "s", "candidates": ["c"], "fit": [True]}
    file = tmp_path / "marks.jsonl"
    file.write_text(json.dumps(record | change) + "\n")
    with pytest.raises(DataFormatError, match=message):
        write_marked_lists(file, marked.parent / "corpus", tmp_path / "lists")


def test_a_text_of_another_form_is_found_in_that_form(marked: Path, tmp_path: Path) -> None:
    """A list of one, of Gigaword form, lies beside those of natural text, and is learned."""
    pair = {
        "source": "the council of odell closed its bridge 12 days ago , officials said .",
        "summary": "odell closes bridge for 12 days",
    }
    (tmp_path / "gigaword.jsonl").write_text(json.dumps(pair) + "\n")
    kept = {**pair, "candidates": [pair["summary"]], "fit": [1], "profile": "gigaword"}
    (tmp_path / "marked.jsonl").write_text(marked.read_text() + json.dumps(kept) + "\n")
    recipe = (marked.parent / "recipe.toml").read_text()
    other = '[[data.sets]]\nname = "gigaword"\ntrain = "gigaword.jsonl"\nprofile = "gigaword"\n'
    first = '[[data.sets]]\nname = "marked"'
    assert first in recipe
    (tmp_path / "recipe.toml").write_text(recipe.replace(first, f"{other}\n{first}"))
    learned = load_recipe(tmp_path / "recipe.toml", [f"data_dir={tmp_path}"])
    pack(learned, output=tmp_path / "corpus", n_workers=1)
    report = write_marked_lists(tmp_path / "marked.jsonl", tmp_path / "corpus", tmp_path / "lists")
    assert (report.n_lists, report.n_candidates) == (5, 9)
    assert read_meta(tmp_path / "lists").profiles == ("gigaword", "natural")
    split = PackedCorpus.open(tmp_path / "corpus", "train")
    found = read_candidates([str(tmp_path / "lists")], split)
    alone = found.items[found.counts == 1]
    tokenizer = Tokenizer.from_file(tmp_path / "corpus" / "tokenizer.json")
    assert [tokenizer.decode(split.item(item)[1].tolist()) for item in alone] == [
        "odell closes bridge for ## days"
    ]
