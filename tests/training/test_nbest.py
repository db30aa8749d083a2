"""N-best lists: what they hold, when they are made again, and when they are refused."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sumfit.data.packing import pack_corpus
from sumfit.data.sets import SetSpec
from sumfit.errors import (
    ConfigError,
    DataFormatError,
    IncompatibleModelError,
    ModelFormatError,
    ModelNotFoundError,
    ServiceError,
)
from sumfit.rerank.mbr import pairwise_gains
from sumfit.text import Tokenizer
from sumfit.text.split import split_words
from sumfit.training.nbest.lists import Lists, part_path, read_lists, read_meta
from sumfit.training.nbest.make import make_lists
from sumfit.training.nbest.spec import NbestSpec, was_trained_on, with_texts
from sumfit.training.nbest.texts import Texts
from tests.tiny_model import TEXTS, write_model

SUMMARIES = [" ".join(text.split()[1:8]) for text in TEXTS]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model (onnx) and a corpus in its pieces."""
    folder = tmp_path_factory.mktemp("n")
    model = write_model(folder / "model")
    pairs = [
        json.dumps({"source": text, "summary": summary})
        for text, summary in zip(TEXTS, SUMMARIES, strict=True)
    ]
    (folder / "train.jsonl").write_text("\n".join(pairs[:4]))
    (folder / "valid.jsonl").write_text("\n".join(pairs[4:]))
    pack_corpus(
        [SetSpec("made-up", train="train.jsonl", valid="valid.jsonl")],
        data_dir=folder,
        tokenizer_path=model / "tokenizer.json",
        output=folder / "corpus",
        n_workers=1,
    )
    return folder


def spec(place: Path, lists: Path, **changes: Any) -> NbestSpec:
    values: dict[str, Any] = {
        "lists": str(lists),
        "model": str(place / "model"),
        "corpus": str(place / "corpus"),
        "words": "4:6",
        "n_best": 6,
        "part_size": 3,
        "constraints": False,
    }
    return NbestSpec(**{**values, **changes})


def test_lists_hold_candidates_of_the_limit_with_their_gains(place: Path, tmp_path: Path) -> None:
    report = make_lists(spec(place, tmp_path / "l"), n_workers=1)
    assert report.n_made == 4
    meta, parts = read_lists(tmp_path / "l")
    lists = Lists.joined(list(parts))
    assert meta.n_parts == 2
    assert not meta.seen_in_training
    assert sorted(lists.items.tolist()) == [0, 1, 2, 3]
    tokenizer = Tokenizer.from_file(tmp_path / "l" / "tokenizer.json")
    ends = np.cumsum(lists.candidate_lengths)
    texts = [
        tokenizer.decode(ids.tolist()) for ids in np.split(lists.candidate_ids, ends[:-1].tolist())
    ]
    first = np.concatenate([[0], np.cumsum(lists.n_candidates)[:-1]])
    for row in range(4):
        reference = split_words(SUMMARIES[lists.items[row]])
        scores = lists.scores[first[row] : first[row] + lists.n_candidates[row]]
        assert (np.diff(scores) <= 1e-6).all()
        for k in range(first[row], first[row] + lists.n_candidates[row]):
            words = split_words(texts[k])
            assert len(texts[k].split()) == lists.limits[row]
            assert 4 <= lists.limits[row] <= 6
            expected = pairwise_gains([words, reference])[0, 1]
            assert lists.gains[k] == pytest.approx(expected, abs=1e-6)
            assert lists.overlaps[k] == (Counter(words) & Counter(reference)).total()
            assert lists.ranks[k] >= k - first[row]
            assert 0 <= lists.expected_f1[k] <= 1


def test_an_exact_list_is_made_longer_where_strings_fail(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sumfit.pipeline.search.says_something", lambda text: len(text) % 2 == 0)
    make_lists(spec(place, tmp_path / "l"), n_workers=1)
    lists = Lists.joined(list(read_lists(tmp_path / "l")[1]))
    assert lists.n_candidates.tolist() == [6] * 4
    assert lists.ranks.max() > 5


def test_what_is_there_is_kept_and_shards_make_the_rest(place: Path, tmp_path: Path) -> None:
    wanted = spec(place, tmp_path / "l", part_size=1)
    first = make_lists(wanted, n_workers=1, shard=(0, 2))
    assert first.n_made == 2
    with pytest.raises(DataFormatError, match=r"lacks 2 of 4 parts \(part-00001"):
        read_lists(tmp_path / "l")
    stamp = part_path(tmp_path / "l", 0).stat().st_mtime_ns
    second = make_lists(wanted, n_workers=1)
    assert (second.n_made, second.n_kept) == (2, 2)
    assert part_path(tmp_path / "l", 0).stat().st_mtime_ns == stamp
    whole = make_lists(dataclasses.replace(wanted, lists=str(tmp_path / "w")), n_workers=2)
    assert whole.n_made == 4
    for number in range(4):
        one, two = (Lists.load(part_path(tmp_path / name, number)) for name in "lw")
        for field in dataclasses.fields(Lists):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name))


def test_a_killed_worker_ends_the_making_and_what_is_done_stays(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = spec(place, tmp_path / "l", part_size=1)
    make_lists(wanted, n_workers=1, shard=(0, 4))
    read = Texts.items

    def kill_then_read(texts: Texts, numbers: range) -> Any:
        if numbers.start == 3:
            for child in multiprocessing.active_children():
                child.kill()
        return read(texts, numbers)

    with monkeypatch.context() as patch:
        patch.setattr(Texts, "items", kill_then_read)
        with pytest.raises(ServiceError, match=r"one was killed by signal 9 \(out of memory\?\);"):
            make_lists(wanted, n_workers=2)
    assert not multiprocessing.active_children()
    again = make_lists(wanted, n_workers=2)
    assert again.n_kept >= 1
    assert again.n_made == 4 - again.n_kept
    assert len(Lists.joined(list(read_lists(tmp_path / "l")[1]))) == 4


def test_lists_of_another_kind_are_not_mixed(place: Path, tmp_path: Path) -> None:
    make_lists(spec(place, tmp_path / "l"), n_workers=1)
    with pytest.raises(IncompatibleModelError, match="made from another kind of search"):
        make_lists(spec(place, tmp_path / "l", n_best=5), n_workers=1)
    with pytest.raises(IncompatibleModelError, match="made from another"):
        make_lists(spec(place, tmp_path / "l", split="valid"), n_workers=1)


def test_a_torch_checkpoint_makes_the_lists_of_its_graphs(
    tmp_path: Path, tiny_recipe: Path
) -> None:
    from sumfit.training.recipe import load_recipe
    from sumfit.training.run import train

    recipe = load_recipe(tiny_recipe, [f"output_dir={tmp_path / 'run'}", "data.leave_out=0/2"])
    done = train(recipe, device="cpu", n_workers=1)
    assert done.best is not None
    values: dict[str, Any] = {
        "model": str(done.best),
        "corpus": str(recipe.corpus),
        "words": "3",
        "n_best": 4,
        "constraints": False,
        "max_items": 20,
    }
    report = make_lists(
        NbestSpec(lists=str(tmp_path / "l"), fold="0/2", **values), device="cpu", n_workers=1
    )
    assert report.n_made + sum(report.failures.values()) == 20
    assert report.n_made > 10
    other = NbestSpec(lists=str(tmp_path / "m"), fold="1/2", **values)
    with pytest.raises(ConfigError, match="was trained on these texts"):
        make_lists(other, device="cpu", n_workers=1)
    seen = make_lists(dataclasses.replace(other, allow_seen=True), device="cpu", n_workers=1)
    assert seen.meta.seen_in_training
    assert read_meta(tmp_path / "m").seen_in_training


def test_training_texts_are_known_by_recipe_and_fold(tmp_path: Path) -> None:
    data = {"sets": [{"name": "news", "train": "news/train.jsonl"}], "leave_out": "1/2"}
    (tmp_path / "config.json").write_text(json.dumps({"recipe": {"data": data}}))
    base = {"lists": "l", "model": str(tmp_path), "words": "5"}
    for values, expected in (
        ({"corpus": "c"}, True),
        ({"corpus": "c", "fold": "1/2"}, False),
        ({"corpus": "c", "fold": "0/2"}, True),
        ({"corpus": "c", "split": "valid"}, False),
        ({"corpus": "c", "sets": ("other",)}, False),
        ({"data": "/d/news/train.jsonl"}, True),
        ({"data": "/d/news/valid.jsonl"}, False),
    ):
        assert was_trained_on(NbestSpec(**base, **values)) is expected, values  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": ""}, "exactly one of ratio, words and chars must be given, were none"),
        ({"chars": "60"}, r"were \['words', 'chars'\]"),
        ({"words": "6:4"}, "words must be above 0 and in order, was '6:4'"),
        ({"words": "few"}, "words must be a number or LOW:HIGH, was 'few'"),
        ({"corpus": ""}, "exactly one of corpus and data"),
        ({"method": "best"}, "method must be one of"),
        ({"n_best": 0}, "n_best must be at least 1, was 0"),
        ({"after_best": -1}, "after_best must be at least 0, was -1"),
        ({"fold": "2/2"}, "fold must be a part such as 0/2"),
    ],
)
def test_settings_that_make_no_sense_are_named(changes: dict[str, Any], message: str) -> None:
    values = {"lists": "l", "model": "m", "corpus": "c", "words": "5"}
    with pytest.raises(ConfigError, match=message):
        NbestSpec(**{**values, **changes})
    assert with_texts({"ratio": 0.25, "n_best": 4}) == {"ratio": "0.25", "n_best": 4}


def test_damaged_parts_are_named(place: Path, tmp_path: Path) -> None:
    make_lists(spec(place, tmp_path / "l"), n_workers=1)
    path = part_path(tmp_path / "l", 0)
    lists = Lists.load(path)
    dataclasses.replace(lists, gains=lists.gains[:-1]).save(path)
    with pytest.raises(DataFormatError, match="gains does not fit the other arrays"):
        Lists.load(path)
    path.write_bytes(b"no")
    with pytest.raises(DataFormatError, match="is damaged"):
        Lists.load(path)
    with pytest.raises(DataFormatError, match="holds no n-best lists"):
        read_meta(tmp_path)


def test_a_model_that_is_not_there_or_damaged_is_named(place: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match=r"config\.json is not there; give a checkpoint"):
        make_lists(spec(place, tmp_path / "l", model=str(tmp_path)), n_workers=1)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelFormatError, match=r"config\.json is damaged .*; save the model again"):
        make_lists(spec(place, tmp_path / "l", model=str(tmp_path)), n_workers=1)


def test_lists_that_search_has_finished_hold_what_minimum_bayes_risk_reads(
    place: Path, tmp_path: Path
) -> None:
    from sumfit.pipeline import Summarizer
    from sumfit.rerank.graph import GraphMBRReranker, mbr_places

    make_lists(
        spec(place, tmp_path / "l", n_best=8, after_best=16, exact=False, bonus=0.0), n_workers=1
    )
    meta, parts = read_lists(tmp_path / "l")
    assert (meta.n_best, meta.after_best) == (8, 16)
    lists = Lists.joined(list(parts)).given(most=1, weight=30.0)
    fit = Summarizer.from_pretrained(place / "model")
    mbr = GraphMBRReranker.of(fit.model.tokenizer, weight=30.0, n_candidates=8, after_best=16)
    ends = np.cumsum(lists.candidate_lengths)
    for row, words in enumerate(np.split(lists.candidate_ids, ends[:-1].tolist())):
        found = fit(
            TEXTS[lists.items[row]], max_words=int(lists.limits[row]), rerank=mbr,
            constraints=False, bonus=0.0, words_per_vertex=5,
        )  # fmt: skip
        assert fit.model.tokenizer.decode(words.tolist()).lower() == found.text.lower()
        assert lists.ranks[row] == found.rank
        assert lists.log_probs[row] == pytest.approx(found.log_prob, abs=1e-4)
    order = mbr_places(np.array([-1.0, -2.0, -3.0]), np.array([0.1, 0.2, 0.2]), weight=20.0)
    assert order.tolist() == [1, 0, 2]


def test_lists_of_an_older_format_are_made_again(place: Path, tmp_path: Path) -> None:
    make_lists(spec(place, tmp_path / "l"), n_workers=1)
    meta = tmp_path / "l" / "meta.json"
    meta.write_text(meta.read_text().replace("sumfit-nbest-2", "sumfit-nbest-1"))
    with pytest.raises(DataFormatError, match=r"'sumfit-nbest-1', .*; make the lists again"):
        read_lists(tmp_path / "l")
    meta.write_text(json.dumps({**json.loads(meta.read_text()), "formats": 1}))
    with pytest.raises(DataFormatError, match=r"lists: 2 problems in meta\.json:\n"):
        read_lists(tmp_path / "l")
