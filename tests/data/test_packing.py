from __future__ import annotations

import json
import lzma
import multiprocessing
import re
from pathlib import Path

import numpy as np
import pytest

from sumfit.data.corpus import PackedCorpus, PackedSet, read_meta, read_valid_texts
from sumfit.data.packing import pack_corpus
from sumfit.data.sets import PackOptions, SetSpec
from sumfit.data.synthetic import synthetic_pairs
from sumfit.errors import ConfigError, DataFormatError, InputError, ServiceError
from sumfit.text import Tokenizer, get_profile

N_PAIRS = 400


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    pairs = list(synthetic_pairs(N_PAIRS, seed=5))
    Tokenizer.train((p.source for p in pairs), vocab_size=500).save(folder / "tokenizer.json")
    rows = [{"source": pair.source, "summary": pair.summaries[0]} for pair in pairs]
    with lzma.open(folder / "train.jsonl.xz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    held = [{"source": rows[7]["source"], "summaries": ["One", "Two"]}]
    (folder / "valid.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held))
    return folder


def run(data_dir, output, *specs, **options):
    n_workers = options.pop("n_workers", 1)
    return pack_corpus(
        specs,
        data_dir=data_dir,
        tokenizer_path=data_dir / "tokenizer.json",
        output=output,
        options=PackOptions(**options),
        n_workers=n_workers,
    )


BOTH = SetSpec("news", train="train.jsonl.xz", valid="valid.jsonl", profile="both", weight=2.0)


def test_a_packed_corpus_holds_the_tokens_of_its_texts_in_both_forms(data_dir, tmp_path):
    report = run(data_dir, tmp_path, BOTH)
    tokenizer = Tokenizer.from_file(tmp_path / "tokenizer.json")
    meta = read_meta(tmp_path)
    assert meta.sets == (PackedSet("news", "natural", 2.0), PackedSet("news", "gigaword", 2.0))
    assert meta.tokenizer_sha256 == tokenizer.fingerprint
    corpus = PackedCorpus.open(tmp_path, "train")
    kept = report.kept["train", "news", "natural"]
    assert len(corpus) == 2 * kept
    held_out = list(synthetic_pairs(N_PAIRS, seed=5))[7].source
    seen, expected = set(), []
    for pair in synthetic_pairs(N_PAIRS, seed=5):
        if pair[:2] not in seen and pair.source != held_out:
            expected.append(pair)
        seen.add(pair[:2])
    assert kept == len(expected)
    for profile_name, first in (("natural", 0), ("gigaword", kept)):
        profile = get_profile(profile_name)
        for place in (0, 1, kept - 1):
            source, target = corpus.item(first + place)
            pair = expected[place]
            assert source.tolist() == tokenizer.encode(profile.apply_source(pair.source))
            assert target.tolist() == tokenizer.encode(profile.apply_summary(pair.summaries[0]))


def test_workers_do_not_change_the_corpus(data_dir, tmp_path):
    specs = (BOTH, SetSpec("made-up", n_synthetic=60))
    one = run(data_dir, tmp_path / "one", *specs)
    two = run(data_dir, tmp_path / "two", *specs, n_workers=2)
    assert one.lines() == two.lines()
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*")]
    assert len(files) == 14
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_killed_worker_ends_the_packing_and_half_a_corpus_is_none(
    data_dir, tmp_path, monkeypatch
):
    run(data_dir, tmp_path, BOTH)
    monkeypatch.setattr("sumfit.data.packing._BLOCK_BYTES", 1000)

    def kill(*_):
        multiprocessing.active_children()[0].kill()

    with pytest.raises(ServiceError, match=r"one was killed by signal 9 .* fewer worker processes"):
        pack_corpus(
            [BOTH],
            data_dir=data_dir,
            tokenizer_path=data_dir / "tokenizer.json",
            output=tmp_path,
            n_workers=2,
            on_progress=kill,
        )
    assert not multiprocessing.active_children()
    with pytest.raises(DataFormatError, match="is not a packed corpus"):
        read_meta(tmp_path)
    run(data_dir, tmp_path, BOTH, n_workers=2)
    assert read_meta(tmp_path).sets


def test_held_out_sources_and_duplicates_stay_out_and_are_counted(data_dir, tmp_path):
    again = SetSpec("again", train="train.jsonl.xz")
    report = run(data_dir, tmp_path, SetSpec("news", "train.jsonl.xz", "valid.jsonl"), again)
    why = "source is in a validation or test file"
    n_held = report.dropped["train", "news", why]
    assert n_held >= 1
    assert report.kept["train", "again", "natural"] == 0
    assert report.dropped["train", "again", "duplicate"] == N_PAIRS - n_held


def test_validation_texts_keep_all_references_in_the_order_of_the_split(data_dir, tmp_path):
    run(data_dir, tmp_path, BOTH)
    texts = read_valid_texts(tmp_path)
    assert [(text.profile, text.summaries) for text in texts] == [
        ("natural", ("One", "Two")),
        ("gigaword", ("one", "two")),
    ]
    corpus = PackedCorpus.open(tmp_path, "valid")
    tokenizer = Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert len(corpus) == 2
    for place, text in enumerate(texts):
        assert corpus.item(place)[1].tolist() == tokenizer.encode(text.summaries[0])


def test_long_summaries_are_dropped_with_the_reason_and_long_sources_cut(data_dir, tmp_path):
    spec = SetSpec("news", train="train.jsonl.xz")
    by_graph = run(data_dir, tmp_path / "a", spec, max_source=10, min_vertices=22, max_vertices=30)
    reason = "summary is longer than the graph of its source allows (at most 20 pieces)"
    n_long = by_graph.dropped["train", "news", reason]
    by_limit = run(data_dir, tmp_path / "b", spec, max_source=10, max_target=20)
    assert n_long > 20
    reason = "summary is longer than max_target allows (20 pieces)"
    assert n_long == by_limit.dropped["train", "news", reason]
    corpus = PackedCorpus.open(tmp_path / "a", "train")
    assert corpus.source_lengths.max() == 10
    assert corpus.target_lengths.max() == 20
    assert by_graph.cut["train", "news"] == len(corpus)


def test_bad_lines_are_counted_or_stop_the_packing(data_dir, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(
        b'{"source": "a b c", "summary": "a"}\n{"source": "x"}\nnot json\n'
        b'{"source": "caf\xe9", "summary": "b"}\n{"source": " ", "summary": "c"}\n'
        b'{"source": "d e", "summary": "<unk> d"}\n'
    )
    spec = SetSpec("s", train=str(bad))
    report = run(data_dir, tmp_path / "out", spec)
    assert report.kept["train", "s", "natural"] == 1
    assert report.dropped["train", "s", "record does not parse"] == 3
    assert report.dropped["train", "s", "source or summary is empty"] == 1
    assert report.dropped["train", "s", "summary holds <unk>"] == 1
    assert report.messages[0] == f"{bad}:2: column 'summary' is missing; columns here: source"
    assert report.messages[2] == f"{bad}:4: not UTF-8 at byte 15 of the line"
    with pytest.raises(DataFormatError, match=re.escape(f"{bad}:2: column 'summary'")):
        run(data_dir, tmp_path / "out", spec, on_bad="raise")
    with pytest.raises(DataFormatError, match=re.escape(f"{bad}:2: column 'summary'")):
        run(data_dir, tmp_path / "out", spec, on_bad="raise", n_workers=2)


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_wrong_column_is_named_by_the_error(data_dir, tmp_path, suffix):
    file = tmp_path / f"a.{suffix}"
    lines = {
        "jsonl": '{"id": 1, "body": "A b."}\n' * 2,
        "csv": "id,body\n1,A b.\n2,A b.\n",
    }
    file.write_text(lines[suffix])
    specs = [SetSpec("good", train="train.jsonl.xz"), SetSpec("mail", str(file), source="body")]
    with pytest.raises(InputError) as caught:
        run(data_dir, tmp_path / "out", *specs)
    line = {"jsonl": 1, "csv": 2}[suffix]
    assert str(caught.value) == (
        "set mail: its train file holds no usable pair (2 times record does not parse); "
        f"the first: {file}:{line}: column 'summary' is missing; columns here: id, body"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("file", ["source_tokens.bin", "target_tokens.bin", "set_ids.npy"])
def test_a_full_disk_is_an_error_with_the_path(data_dir, tmp_path, file):
    run(data_dir, tmp_path, BOTH)
    (tmp_path / "train" / file).unlink()
    (tmp_path / "train" / file).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        run(data_dir, tmp_path, BOTH)
    assert str(caught.value.filename).startswith(str(tmp_path / "train"))
    assert not (tmp_path / "meta.json").exists()


def test_the_limit_of_the_graph_is_told_for_short_and_long_sources(data_dir, tmp_path):
    spec = SetSpec("news", train="train.jsonl.xz")
    report = run(data_dir, tmp_path, spec, min_vertices=6, vertex_scale=0.5)
    reason = (
        "summary is longer than the graph of its source allows "
        "(4 pieces for a short source, up to 94 for the longest)"
    )
    assert report.dropped["train", "news", reason] > 0


def test_parallel_line_files_pack_like_jsonl(data_dir, tmp_path):
    pairs = list(synthetic_pairs(50, seed=9))
    (tmp_path / "s.txt").write_text("".join(f"{pair.source}\n" for pair in pairs))
    (tmp_path / "t.txt").write_text("".join(f"{pair.summaries[0]}\n" for pair in pairs))
    rows = [{"source": pair.source, "summary": pair.summaries[0]} for pair in pairs]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = SetSpec("x", train=str(tmp_path / "s.txt"), train_summaries=str(tmp_path / "t.txt"))
    run(data_dir, tmp_path / "lines", lines)
    run(data_dir, tmp_path / "jsonl", SetSpec("x", train=str(tmp_path / "p.jsonl")))
    for name in ("source_tokens.bin", "target_tokens.bin"):
        one = (tmp_path / "lines" / "train" / name).read_bytes()
        assert one == (tmp_path / "jsonl" / "train" / name).read_bytes()
    (tmp_path / "t.txt").write_text("only one\n")
    with pytest.raises(DataFormatError, match="ends before line 2"):
        run(data_dir, tmp_path / "lines", lines)


def test_all_missing_files_and_double_names_are_listed(data_dir, tmp_path):
    with pytest.raises(ConfigError) as caught:
        run(data_dir, tmp_path, SetSpec("a", train="x.jsonl"), SetSpec("a", train="y.docx"))
    assert str(caught.value).splitlines() == [
        f"set a: train file {data_dir / 'x.jsonl'} does not exist; set data_dir=",
        f"set a: train file {data_dir / 'y.docx'} does not exist; set data_dir=",
        "two sets are named a",
    ]


def test_damaged_corpora_say_so(data_dir, tmp_path):
    with pytest.raises(DataFormatError, match="make one with: sumfit data pack"):
        PackedCorpus.open(tmp_path, "train")
    run(data_dir, tmp_path, BOTH)
    tokens = tmp_path / "train" / "target_tokens.bin"
    tokens.write_bytes(tokens.read_bytes()[:-2])
    with pytest.raises(DataFormatError, match="offsets and tokens do not fit; pack again"):
        PackedCorpus.open(tmp_path, "train")
    with pytest.raises(DataFormatError, match="is not a split of a packed corpus"):
        PackedCorpus.open(tmp_path, "test")
    meta = tmp_path / "meta.json"
    meta.write_text(meta.read_text().replace("sumfit-corpus-1", "sumfit-corpus-9"))
    with pytest.raises(DataFormatError, match="format is 'sumfit-corpus-9'"):
        PackedCorpus.open(tmp_path, "train")
    meta.write_text("[1]")
    whole = r"1 problem in meta\.json:\n  the whole must be a table, was \[1\]"
    with pytest.raises(DataFormatError, match=whole):
        PackedCorpus.open(tmp_path, "train")


def test_new_weights_hold_without_packing_again(data_dir, tmp_path):
    run(data_dir, tmp_path, BOTH)
    corpus = PackedCorpus.open(tmp_path, "train")
    changed = corpus.reweighted([PackedSet("news", "gigaword", 0.5), PackedSet("z", "natural", 9)])
    assert [entry.weight for entry in changed.meta.sets] == [2.0, 0.5]
    assert np.shares_memory(changed.source_tokens, corpus.source_tokens)


def test_a_file_of_which_nothing_can_be_used_is_an_error(data_dir, tmp_path):
    (data_dir / "empty.jsonl").write_text("")
    (data_dir / "long.jsonl").write_text(json.dumps({"source": "a", "summary": "one two " * 20}))
    specs = (
        SetSpec("news", train="train.jsonl.xz", valid="empty.jsonl"),
        SetSpec("more", train="train.jsonl.xz"),  # all of it stands in the other: no mistake
        SetSpec("long", train="long.jsonl"),
    )
    with pytest.raises(InputError) as caught:
        run(data_dir, tmp_path, *specs, max_target=20)
    assert str(caught.value) == (
        "set news: its valid file holds no usable pair\n"
        "set long: its train file holds no usable pair "
        "(1 times summary is longer than max_target allows (20 pieces))"
    )
    assert not (tmp_path / "meta.json").exists()
    assert "duplicate" in (tmp_path / "report.txt").read_text()
