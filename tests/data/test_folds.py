"""Folds: the same for a text wherever it stands, and all of the data together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sumfit.data.corpus import PackedCorpus
from sumfit.data.folds import Fold, fold_of_text, folds_of_corpus
from sumfit.data.packing import pack_corpus
from sumfit.data.sets import SetSpec
from sumfit.errors import ConfigError
from sumfit.text import Tokenizer
from sumfit.training.loader import BatchOptions, BatchStream
from tests.tiny_model import TEXTS


def corpus(folder: Path) -> tuple[PackedCorpus, Tokenizer]:
    Tokenizer.train(TEXTS * 3, vocab_size=500).save(folder / "tokenizer.json")
    lines = [f'{{"source": "{text}", "summary": "{text[:20]}"}}' for text in TEXTS]
    (folder / "t.jsonl").write_text("\n".join(lines))
    sets = [SetSpec("made-up", train="t.jsonl", profile="both")]
    pack_corpus(
        sets,
        data_dir=folder,
        tokenizer_path=folder / "tokenizer.json",
        output=folder / "c",
        n_workers=1,
    )
    return PackedCorpus.open(folder / "c", "train"), Tokenizer.from_file(folder / "tokenizer.json")


def test_a_pair_is_in_one_fold_in_both_profiles(tmp_path: Path) -> None:
    packed, tokenizer = corpus(tmp_path)
    folds = folds_of_corpus(packed, tokenizer.piece_bytes, 3)
    texts = [tokenizer.decode(packed.item(i)[0]) for i in range(len(packed))]
    assert folds.tolist() == [fold_of_text(text, 3) for text in texts]
    for text in TEXTS:
        same = [folds[i] for i, t in enumerate(texts) if t[:15].lower() == text[:15].lower()]
        assert len(same) == 2
        assert len(set(same)) == 1
    assert len(set(folds.tolist())) > 1


def test_training_leaves_its_fold_out(tmp_path: Path) -> None:
    packed, tokenizer = corpus(tmp_path)
    folds = folds_of_corpus(packed, tokenizer.piece_bytes, 2)
    kept = []
    for index in range(2):
        stream = BatchStream(
            packed,
            BatchOptions(max_vertices=96),
            seed=1,
            left_out=Fold(index, 2),
            piece_bytes=tokenizer.piece_bytes,
        )
        assert (folds[stream.items] != index).all()
        assert stream.dropped[f"of fold {index}/2 (leave_out)"] == (folds == index).sum()
        kept.append(stream.items)
    assert np.sort(np.concatenate(kept)).tolist() == list(range(len(packed)))


@pytest.mark.parametrize("text", ["2/2", "0", "0/1", "a/b", "-1/2"])
def test_a_fold_must_be_one_of_several(text: str) -> None:
    with pytest.raises(ConfigError, match="leave_out must be a part such as 0/2"):
        Fold.parse(text, name="leave_out")
    assert Fold.parse("") is None
    assert str(Fold.parse("1/3")) == "1/3"
