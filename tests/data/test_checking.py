from __future__ import annotations

import json
import re

import numpy as np
import pytest

from sumfit.data.checking import Packer, check_files, check_sets, overlaps
from sumfit.data.packing import pack_corpus
from sumfit.data.sets import PackOptions, SetSpec
from sumfit.errors import ConfigError
from sumfit.runtime import default_model_path

ROWS = [
    ("The council met on Monday and chose a new mayor.", "Council chooses mayor"),
    ("The council met on Monday and chose a new mayor.", "The council met"),
    ("Short.", "A summary that is longer"),
    ("Broken â€™ text & <p>markup</p>", "<unk> markup"),
    ("", "nothing"),
]


def write(path, rows):
    path.write_text("".join(json.dumps({"source": s, "summary": t}) + "\n" for s, t in rows))
    return path


def test_suspicious_rows_are_counted_and_placed(tmp_path):
    path = write(tmp_path / "a.jsonl", ROWS)
    with path.open("a") as out:
        out.write("oops\n")
    (check,) = check_files([path])
    assert (check.n_pairs, check.n_bad) == (5, 1)
    assert check.examples == {
        "source seen before in this file": [2],
        "source begins with the summary": [2],
        "summary has more words than its source": [3],
        "summary holds <unk>": [4],
        "UTF-8 read as Latin-1 once": [4],
        "HTML in the source": [4],
        "empty source or summary": [5],
    }
    lines = list(check.lines())
    assert lines[0] == f"{path}: 5 pairs, 1 bad records"
    assert lines[1] == "  source words   0-3: 40.0 %  4-7: 20.0 %  8-15: 40.0 %"
    assert "  1 suspicious: summary holds <unk> (lines 4)" in lines
    assert lines[-1].startswith(f"  {path}:6: not JSON")


def test_sources_shared_by_two_files_are_counted_whatever_their_case(tmp_path):
    one = write(tmp_path / "one.jsonl", ROWS[:3])
    two = write(tmp_path / "two.jsonl", [(ROWS[0][0].upper(), "x"), ("New text", "y")])
    assert list(overlaps(check_files([one, two]))) == [f"1 sources stand in both {one} and {two}"]


def test_parallel_files_are_checked_line_by_line(tmp_path):
    source, target = tmp_path / "a.src", tmp_path / "a.tgt"
    source.write_text("".join(f"{row[0]}\n" for row in ROWS))
    target.write_text("".join(f"{row[1]}\n" for row in ROWS))
    (check,) = check_files([source], summary_lines=[target])
    (same,) = check_files([write(tmp_path / "a.jsonl", ROWS)])
    assert list(check.lines())[1:] == list(same.lines())[1:]
    assert (check.n_pairs, check.examples) == (5, same.examples)
    target.write_text("one\ntwo\n")
    short, whole = check_files([source, target], summary_lines=[target, target])
    assert (short.n_pairs, whole.n_pairs, whole.error) == (2, 2, "")
    assert short.error == (
        f"{target} ends before line 3, which {source} still has; "
        "parallel files need the same number of lines"
    )
    assert list(short.lines())[-1] == f"  {short.error}"


def test_lines_without_their_summaries_are_refused(tmp_path):
    for name, said in (("a.txt", "holds lines; name"), ("a.src", "one a line, name the file of")):
        (tmp_path / name).write_text("x\n")
        with pytest.raises(ConfigError, match=f"{said}.* --summary-lines"):
            check_files([tmp_path / name])
    with pytest.raises(ConfigError, match="1 files of summaries were given for 2 files of"):
        check_files(["a", "b"], summary_lines=["c"])


def test_a_file_that_is_not_there_loses_no_other(tmp_path):
    missing, there = check_files([tmp_path / "no.jsonl", write(tmp_path / "a.jsonl", ROWS)])
    assert missing.error == f"cannot read {tmp_path / 'no.jsonl'}: No such file or directory"
    assert there.n_pairs == 5


def test_what_packing_leaves_out_is_counted_with_its_limit(tmp_path):
    rows = [
        ("Some words of a source.", "a b c d e f g h i j"),
        ("Some words of a source.", "short"),
        ("", "x"),
    ]
    write(tmp_path / "a.jsonl", rows)
    sets = [SetSpec("a", train="a.jsonl", profile="both")]
    options = PackOptions(min_vertices=8, max_vertices=10, max_target=64)
    packer = Packer(default_model_path() / "tokenizer.json", sets, options)
    lines = list(check_sets(sets, tmp_path, problems=[], packer=packer))
    assert "  2 left out when packing: source or summary is empty" in lines
    assert (
        "  2 left out when packing: summary is longer than the graph of its source allows "
        "(6 pieces for a short source, up to 8 for the longest)" in lines
    )
    assert not any("packing" in line for line in check_sets(sets, tmp_path, problems=[]))


def test_a_recipe_without_validation_or_with_an_empty_file_is_reported(tmp_path):
    write(tmp_path / "a.jsonl", ROWS)
    (tmp_path / "empty.jsonl").write_text("")
    sets = [SetSpec("a", train="a.jsonl"), SetSpec("b", train="empty.jsonl")]
    problems: list[str] = []
    list(check_sets(sets, tmp_path, problems=problems))
    assert problems == ["set b: its train file holds no usable pair"]
    lines = list(check_sets(sets[:1], tmp_path, problems=[]))
    assert lines[-1] == "no set has a validation file: training cannot tell when to stop"


def test_what_is_held_out_elsewhere_is_not_missed(tmp_path):
    write(tmp_path / "a.jsonl", ROWS)
    told = "training cannot tell when to stop"
    away = [SetSpec("a", train="a.jsonl", valid="away.jsonl")]
    assert list(check_sets(away, tmp_path, problems=[])) == []
    for n_valid in (0, 3):
        corpus = tmp_path / f"corpus{n_valid}"
        options = {"data_dir": tmp_path, "output": corpus, "n_workers": 1}
        sets = [SetSpec("b", train="a.jsonl")]
        if n_valid:
            sets.append(SetSpec("made-up", n_synthetic=20))
        pack_corpus(sets, tokenizer_path=default_model_path() / "tokenizer.json", **options)
        lines = list(check_sets(away, tmp_path, problems=[], corpus=corpus))
        assert lines == [f"the packed corpus {corpus} has no validation pair: {told}"] * (
            not n_valid
        )
    problems: list[str] = []
    (corpus / "valid" / "set_ids.npy").unlink()
    assert list(check_sets(away, tmp_path, problems=problems, corpus=corpus)) == []
    assert f"{corpus / 'valid'} is not a split of a packed corpus" in problems[0]


def test_records_that_do_not_parse_are_counted_and_named(tmp_path):
    write(tmp_path / "a.jsonl", ROWS)
    with (tmp_path / "a.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"source": "cut off\n')
    (tmp_path / "b.jsonl").write_text('{"text": "One.", "title": "Two"}\n', encoding="utf-8")
    problems: list[str] = []
    sets = [SetSpec("a", train="a.jsonl", valid="b.jsonl")]
    lines = list(check_sets(sets, tmp_path, problems=problems))
    assert f"a train: {len(ROWS)} pairs, 1 bad records" in lines
    assert "a valid: 0 pairs, 1 bad records" in lines
    missing = "b.jsonl:1: column 'source' is missing; columns here: text, title"
    assert any(line.endswith(missing) for line in lines)
    (problem,) = problems
    assert problem.startswith("set a: its valid file holds no usable pair; ")
    assert problem.endswith(missing)


def told_of_words(tmp_path, train, valid):
    write(tmp_path / "a.jsonl", [("A text.", summary) for summary in train])
    write(tmp_path / "b.jsonl", [("A text.", summary) for summary in valid])
    sets = [SetSpec("a", train="a.jsonl", valid="b.jsonl")]
    lines = check_sets(sets, tmp_path, problems=[])
    return [line for line in lines if "summary words of a valid" in line]


def zipfian(n_summaries, *, seed, language=""):
    """Summaries of nine words each, words as often as those of a language; a fifth are names."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(rng.zipf(1.3, size=(n_summaries, 9)), 60_000)
    words = [[_letters(rank) + language * (place > 1) for place, rank in enumerate(row)]
             for row in ranks]  # fmt: skip
    return [" ".join(row) for row in words]


def _letters(rank):
    return "".join(chr(ord("a") + int(digit)) for digit in str(rank))


@pytest.mark.parametrize(("n_train", "n_valid"), [(2, 1), (50, 20), (300, 50), (4000, 50)])
def test_few_texts_of_one_language_are_no_alarm(tmp_path, n_train, n_valid):
    train, valid = zipfian(n_train, seed=1), zipfian(n_valid, seed=2)
    assert told_of_words(tmp_path, train, valid) == []


@pytest.mark.parametrize(("n_train", "n_valid"), [(300, 50), (4000, 50)])
def test_validation_in_another_language_is_noticed(tmp_path, n_train, n_valid):
    train, valid = zipfian(n_train, seed=1), zipfian(n_valid, seed=2, language="en")
    (line,) = told_of_words(tmp_path, train, valid)
    assert re.fullmatch(
        r"[78]\d % of the summary words of a valid occur in no training summary: "
        "another language or another kind of text",
        line,
    )
