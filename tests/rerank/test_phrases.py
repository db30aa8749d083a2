"""The table of phrases: what it says is what was counted, and it survives its file."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from sumfit.errors import ModelFormatError
from sumfit.rerank.phrases import END, START, STEP, Phrases
from sumfit.training.reranking.counting import Counts, count_phrases, phrases_of

PAIRS = [
    ("The old bank raised its rate on Monday, it said", "Bank raises rate"),
    ("A bank will close the bridge", "Bank closes bridge"),
    ("Rate of the library rose as the bank raised it", "Bank raises library rate"),
]


@pytest.fixture(scope="module")
def counts() -> Counts:
    counts = Counts()
    for source, summary in PAIRS:
        counts.add(source, summary)
    return counts


@pytest.fixture(scope="module")
def table(counts: Counts) -> Phrases:
    found = phrases_of(counts, least_words=1, least_pairs=2)
    assert found is not None
    return found


def test_scores_are_those_of_the_counts(counts: Counts, table: Phrases) -> None:
    texts = [["bank", "raises", "rate"], ["bridge", "unheard"], []]
    found = table.score(texts)
    assert found.log_p.shape == (3, 4)
    n_all = sum(counts.words.values())
    for row, words in enumerate(texts):
        line = [START, *words, END]
        for column, (first, second) in enumerate(itertools.pairwise(line)):
            n_pair, n_first = counts.pairs[first, second], counts.words[first]
            alone = (counts.words[second] + 0.3) / n_all
            is_known = n_pair >= 2
            spent = sum(n - 0.7 for (a, _), n in counts.pairs.items() if a == first and n >= 2)
            rest = max(1 - spent / n_first, 1e-3) if n_first else 1.0
            joint = rest * alone + (max(n_pair - 0.7, 0) / n_first if is_known else 0.0)
            assert found.is_known[row, column] == is_known
            assert found.is_real[row, column]
            if second in counts.words:
                assert found.alone[row, column] == pytest.approx(math.log(alone), abs=STEP / 2)
                assert found.log_p[row, column] == pytest.approx(math.log(joint), abs=STEP)
        assert not found.is_real[row, len(words) + 1 :].any()
        assert not found.log_p[row, len(words) + 1 :].any()


def test_words_that_summaries_keep_are_told_from_others(table: Phrases) -> None:
    bank, library = table.kept(["bank", "library"])
    assert bank == pytest.approx(math.log((3 + 1) / (0 + 3)), abs=STEP / 2)
    assert library == pytest.approx(math.log((1 + 1) / (0 + 3)), abs=STEP / 2)
    assert table.kept(["unheard"])[0] < library


def test_a_table_survives_its_file(table: Phrases, tmp_path: Path) -> None:
    table.save(tmp_path / "phrases.npz")
    again = Phrases.load(tmp_path / "phrases.npz")
    for name in Phrases.__slots__:
        np.testing.assert_array_equal(getattr(again, name), getattr(table, name))


def test_damaged_tables_are_named(table: Phrases, tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"phrases\.npz is missing or damaged"):
        Phrases.load(tmp_path / "phrases.npz")
    (tmp_path / "bad.npz").write_bytes(b"no")
    with pytest.raises(ModelFormatError, match="is missing or damaged"):
        Phrases.load(tmp_path / "bad.npz")
    short = Phrases(
        table.words, table.log_p[1:], *(getattr(table, n) for n in Phrases.__slots__[2:])
    )
    short.save(tmp_path / "short.npz")
    with pytest.raises(ModelFormatError, match="holds no table of phrases"):
        Phrases.load(tmp_path / "short.npz")


def test_counting_files_leaves_rare_pairs_out(tmp_path: Path) -> None:
    import json

    from sumfit.errors import ConfigError

    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, pairs in zip(paths, (PAIRS[:1], PAIRS[1:]), strict=True):
        lines = [json.dumps({"source": source, "summary": summary}) for source, summary in pairs]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = dict.fromkeys(map(str, paths), 0)
    seen: list[tuple[int, int, float]] = []
    table = count_phrases(
        files,
        least_words=1,
        least_pairs=2,
        n_workers=1,
        on_progress=lambda *progress: seen.append(progress),
    )
    sizes = sorted((path.stat().st_size for path in paths), reverse=True)
    assert [step[:2] for step in seen] == [(sizes[0], sum(sizes)), (sum(sizes), sum(sizes))]
    assert seen[0][2] > seen[1][2] == 0
    found = table.score([["bank", "raises", "rate"]])
    # START bank (3), bank raises (2) and rate END (2) occur twice or more; raises rate only once.
    assert found.is_known.tolist() == [[True, True, False, True]]
    with pytest.raises(ConfigError, match="lower least_pairs"):
        count_phrases(files, least_words=1, least_pairs=9, n_workers=1)
