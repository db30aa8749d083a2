"""File jobs: complete, in order, each record once, whatever happens on the way."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import lzma
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sumfit import Summarizer
from sumfit.errors import ConfigError, DataFormatError, OverloadedError, ServiceError
from sumfit.jobs import JobSpec, ray_engine, run_job
from sumfit.jobs.parts import JobDirectory
from sumfit.jobs.progress import Progress
from sumfit.jobs.spec import read_chunks
from tests.tiny_model import TEXTS

OPTIONS = {"max_chars": 40}


def records(n_records: int) -> list[dict[str, Any]]:
    return [{"id": i, "text": TEXTS[i % len(TEXTS)]} for i in range(n_records)]


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spec(tmp_path: Path, tiny_model: Path, **changes: Any) -> JobSpec:
    values = {
        "input": tmp_path / "in.jsonl",
        "output": tmp_path / "out.jsonl",
        "options": OPTIONS,
        "model": str(tiny_model),
        "chunk_size": 4,
    }
    return JobSpec(**(values | changes))


def run(job: JobSpec) -> Any:
    return run_job(job, show_progress=False)


def test_the_output_has_every_record_with_the_librarys_own_summary(
    tmp_path: Path, tiny_model: Path, fit: Summarizer
) -> None:
    rows = [*records(9), {"id": 9, "text": "  "}, {"id": 10, "text": None}, {"id": 11}]
    write_jsonl(tmp_path / "in.jsonl", rows)
    report = run(spec(tmp_path, tiny_model, n_processes=2, options={**OPTIONS, "n_best": 2}))
    assert (report.n_records, report.failures.n_failed, report.n_resumed) == (12, 3, 0)
    found = read_jsonl(tmp_path / "out.jsonl")
    assert [row["id"] for row in found] == list(range(12))
    for row in found[:9]:
        summary = fit(row["text"], max_chars=40, n_best=2)
        assert row["summary"] == summary.text
        assert row["summary_length"] == summary.length <= 40
        assert row["summary_alternatives"] == [summary.alternatives[0].text]
        for name in ("chosen_by", "choice_score", "unfinished"):
            assert row[f"summary_{name}"] == getattr(summary, name)
        assert row["summary_error"] is row["summary_error_type"] is None
        assert row["summary_line"] == row["id"] + 1
    assert "the text is empty" in found[9]["summary_error"]
    assert [row["summary_error_type"] for row in found[9:]] == [
        "EmptyInputError",
        "DataFormatError",
        "DataFormatError",
    ]
    file = tmp_path / "in.jsonl"
    assert found[10]["summary_error"] == f"{file}:11: field 'text' must be a string, was null"
    assert found[11]["summary_error"].startswith(f"{file}:12: no field 'text' or 'source'; ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv.gz", "out.txt", "out.jsonl.xz", "out.txt.gz"])
def test_every_output_format_has_the_same_summaries(
    tmp_path: Path, tiny_model: Path, fit: Summarizer, name: str
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(5))
    run(spec(tmp_path, tiny_model, output=tmp_path / name))
    raw = (tmp_path / name).read_bytes()
    raw = gzip.decompress(raw) if name.endswith("gz") else raw
    raw = lzma.decompress(raw) if name.endswith("xz") else raw
    text = raw.decode("utf-8")
    if "txt" in name:
        found = text.split("\n")[:-1]
    elif "jsonl" in name:
        found = [json.loads(line)["summary"] for line in text.splitlines()]
    else:
        rows = csv.DictReader(io.StringIO(text), delimiter="\t" if "tsv" in name else ",")
        found = [row["summary"] for row in rows]
    assert found == [fit(row["text"], **OPTIONS).text for row in records(5)]


def test_parquet_keeps_columns_and_types(tmp_path: Path, tiny_model: Path, fit: Summarizer) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table(
        {
            "when": pa.array(range(10), pa.timestamp("ms")),
            "body": pa.array([*TEXTS, *TEXTS[:3], ""]),
            "tags": pa.array([["a", "b"]] * 10),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    job = spec(
        tmp_path,
        tiny_model,
        input=tmp_path / "in.parquet",
        output=tmp_path / "out.parquet",
        field="body",
        output_field="title",
    )
    assert run(job).failures.n_failed == 1
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.select(["when", "body", "tags"]).equals(table)
    titles = found.column("title").to_pylist()
    assert titles == [*(fit(text, **OPTIONS).text for text in [*TEXTS, *TEXTS[:3]]), None]
    assert found.schema.field("title_optimal").type == pa.bool_()
    assert found.schema.field("title_length").type == pa.int64()


def test_an_empty_input_gives_an_empty_output(tmp_path: Path, tiny_model: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", [])
    assert run(spec(tmp_path, tiny_model)).n_records == 0
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_each_record_may_have_its_own_limit(tmp_path: Path, tiny_model: Path) -> None:
    rows = [{"text": TEXTS[0], "room": room} for room in (20, "30", 40.0, None, "wide")]
    write_jsonl(tmp_path / "in.jsonl", rows)
    run(spec(tmp_path, tiny_model, limit_field="room", options={"unit": "chars"}))
    found = read_jsonl(tmp_path / "out.jsonl")
    assert [row["summary_limit"] for row in found] == [20, 30, 40, None, None]
    file = tmp_path / "in.jsonl"
    assert [row["summary_error"] for row in found[3:]] == [
        f"{file}:4: limit 'room' must be a whole number, was null",
        f"{file}:5: limit 'room' must be a whole number, was 'wide'",
    ]


def test_a_stopped_job_goes_on_with_what_it_has(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(20))
    whole = spec(tmp_path, tiny_model, output=tmp_path / "whole.jsonl")
    run(whole)
    save = JobDirectory.save
    saved: list[int] = []

    def save_two(self: JobDirectory, index: int, results: Any) -> None:
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(index)
        save(self, index, results)

    monkeypatch.setattr(JobDirectory, "save", save_two)
    with pytest.raises(KeyboardInterrupt):
        run(spec(tmp_path, tiny_model))
    assert not (tmp_path / "out.jsonl").exists()
    monkeypatch.undo()
    report = run(spec(tmp_path, tiny_model))
    assert (report.n_records, report.n_resumed) == (20, 8)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_an_error_before_the_first_part_leaves_nothing_behind(
    tmp_path: Path, tiny_model: Path
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(3))
    changes: list[dict[str, Any]] = [{"field": "body"}, {"options": {"max_chars": -1}}]
    for wrong in changes:
        with pytest.raises(ConfigError):
            run(spec(tmp_path, tiny_model, **wrong))
        assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    own = tmp_path / "out.jsonl.job" / "mine.txt"
    own.parent.mkdir()
    own.touch()
    with pytest.raises(ConfigError):
        run(spec(tmp_path, tiny_model, field="body"))
    assert [path.name for path in own.parent.iterdir()] == [own.name]


def test_a_job_killed_before_its_first_part_holds_up_no_other(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(3))
    monkeypatch.setattr(JobDirectory, "_remove_if_nothing_is_done", lambda self: None)
    with pytest.raises(ConfigError):
        run(spec(tmp_path, tiny_model, field="body"))
    monkeypatch.undo()
    assert (tmp_path / "out.jsonl.job" / "job.json").exists()
    assert run(spec(tmp_path, tiny_model)).n_records == 3


def test_an_unfinished_job_is_not_mixed_with_another(tmp_path: Path, tiny_model: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(8))
    job = spec(tmp_path, tiny_model)
    with JobDirectory(job.output).open(job.fingerprint(), restart=False):
        with pytest.raises(OverloadedError, match="another process is working in"):
            run(job)
        JobDirectory(job.output).save(0, [{"line": 1}])
    other = spec(tmp_path, tiny_model, options={"max_chars": 50})
    message = r"holds an unfinished job, and max_chars=50 was 40 before\. Run it as before to go on"
    with pytest.raises(ConfigError, match=message):
        run(other)
    assert run(spec(tmp_path, tiny_model, options={"max_chars": 50}, restart=True)).n_records == 8
    assert {row["summary_limit"] for row in read_jsonl(tmp_path / "out.jsonl")} == {50}


def test_a_job_killed_between_output_and_clean_up_counts_as_done(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(8))
    monkeypatch.setattr("sumfit.jobs.parts.shutil.rmtree", lambda *a, **k: None)
    run(spec(tmp_path, tiny_model))
    monkeypatch.undo()
    before = (tmp_path / "out.jsonl").stat().st_mtime_ns
    assert run(spec(tmp_path, tiny_model)).n_records == 0
    assert (tmp_path / "out.jsonl").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_an_input_that_changes_meanwhile_is_noticed(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(8))
    save = JobDirectory.save

    def save_and_append(self: JobDirectory, index: int, results: Any) -> None:
        save(self, index, results)
        if index == 1:
            write_jsonl(tmp_path / "in.jsonl", records(9))

    monkeypatch.setattr(JobDirectory, "save", save_and_append)
    with pytest.raises(DataFormatError, match=r"changed while the job ran; .* with --restart"):
        run(spec(tmp_path, tiny_model))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chunk_size": 0}, "chunk_size must be at least 1, was 0"),
        ({"engine": "dask"}, "engine must be 'local' or 'ray', was 'dask'"),
        ({"options": {"max_chars": [1, 2]}}, "one limit for each record, max_chars= has several"),
        ({"output": Path("/no/such/folder/out.txt")}, "output folder .* does not exist"),
        ({"field": "body"}, "has no column 'body'; its columns are 'id', 'text'"),
        ({"limit_field": "room"}, "has no column 'room'; its columns are 'id', 'text'"),
        ({"format": "xml"}, "format must be one of lines, jsonl, .*, was 'xml'"),
        ({"output_field": "id"}, "has a column 'id' already; choose another name"),
        ({"options": {"max_chars": 5, "max_words": 2}}, "two length specifications"),
        ({"model": "/no/such/model"}, "/no/such/model"),
        ({"n_processes": 0}, "processes must be at least 1, was 0"),
        ({"n_gpus": -1.0}, "gpus must be a number of at least 0, was -1.0"),
        ({"n_gpus": float("nan")}, "gpus must be a number of at least 0, was nan"),
        ({"n_gpus": 1.0}, "actors of engine 'ray', was 1.0 with engine 'local'; add --engine ray"),
        ({"output_field": ""}, "output_field must be the name of a column, was ''"),
        ({"output": Path("/")}, "output / is a directory; give the name of a file"),
        ({"format": "datasets"}, "is no directory of .arrow files, as format 'datasets' needs it"),
    ],
)
def test_a_wrong_job_is_refused(
    tmp_path: Path, tiny_model: Path, changes: dict[str, Any], message: str
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(2))
    with pytest.raises((ConfigError, FileNotFoundError), match=message):
        run(spec(tmp_path, tiny_model, **changes))


def test_input_and_output_must_be_two_files(tmp_path: Path, tiny_model: Path) -> None:
    with pytest.raises(ConfigError, match="is not a file; give a file that exists"):
        spec(tmp_path, tiny_model)
    write_jsonl(tmp_path / "in.jsonl", records(2))
    with pytest.raises(ConfigError, match="is the input; give another name"):
        spec(tmp_path, tiny_model, output=tmp_path / "in.jsonl")


def bad_lines(path: Path) -> Path:
    """Ten lines, of which 1 and 6 to 9 are bad in four ways."""
    good = [json.dumps({"id": number, "text": TEXTS[0]}).encode() for number in range(1, 11)]
    broken = [b"{broken", b'{"id": 7, "text": "caf\xe9"}', b"[1, 2]", b'{"id": 9, "text": 4}']
    path.write_bytes(b"\n".join([b"{", *good[1:5], *broken, good[9]]) + b"\n")
    return path


def test_a_bad_record_loses_no_other(tmp_path: Path, tiny_model: Path, fit: Summarizer) -> None:
    file = bad_lines(tmp_path / "in.jsonl")
    report = run(spec(tmp_path, tiny_model))
    assert (report.n_records, report.failures.n_failed) == (10, 5)
    assert report.failures.total() == "5 of 10 texts have no summary"
    found = read_jsonl(tmp_path / "out.jsonl")
    assert [row["summary_line"] for row in found] == list(range(1, 11))
    assert [row.get("id") for row in found] == [None, 2, 3, 4, 5, None, None, None, 9, 10]
    summary = fit(TEXTS[0], **OPTIONS).text
    bad = (1, 6, 7, 8, 9)
    for row in found:
        is_bad = row["summary_line"] in bad
        assert row["summary"] == (None if is_bad else summary)
        assert row["summary_error_type"] == ("DataFormatError" if is_bad else None)
    errors = [row["summary_error"] for row in found if row["summary_line"] in bad]
    assert errors == [str(message) for message in report.messages]
    assert errors[0].startswith(f"{file}:1: not JSON: ")
    assert errors[2].startswith(f"{file}:7: not UTF-8 at byte 22 of the line (0xe9)")
    assert errors[3:] == [
        f"{file}:8: must be a JSON object, was list; write one object in each line",
        f"{file}:9: field 'text' must be a string, was int",
    ]


@pytest.mark.parametrize("name", ["out.csv", "out.txt", "out.parquet"])
def test_a_bad_record_has_its_row_in_every_format(
    tmp_path: Path, tiny_model: Path, fit: Summarizer, name: str
) -> None:
    file = bad_lines(tmp_path / "in.jsonl")
    run(spec(tmp_path, tiny_model, output=tmp_path / name))
    summary = fit(TEXTS[0], **OPTIONS).text
    expected = ["", *[summary] * 4, "", "", "", "", summary]
    if name == "out.txt":
        assert (tmp_path / name).read_text(encoding="utf-8").split("\n") == [*expected, ""]
        return
    rows: list[dict[str, Any]]
    if name == "out.csv":
        with (tmp_path / name).open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    else:
        pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
        rows = pq.read_table(tmp_path / name).to_pylist()
    assert [row["summary"] or "" for row in rows] == expected
    ids = [int(row["id"]) if row["id"] else None for row in rows]
    assert ids == [None, 2, 3, 4, 5, None, None, None, 9, 10]
    assert [int(row["summary_line"]) for row in rows] == list(range(1, 11))
    assert (
        rows[7]["summary_error"]
        == f"{file}:8: must be a JSON object, was list; write one object in each line"
    )


def test_one_odd_value_spoils_no_output(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    monkeypatch.setattr("sumfit.jobs.parquet._ROWS_PER_GROUP", 2)
    odd = [
        {"n": None, "mixed": "a", "name": "half \ud800", "tags": None},
        {"n": None, "mixed": [1, "x"], "name": "b", "tags": []},
        {"n": 1, "mixed": 2**70, "name": None, "tags": ["c"]},
        {"n": 2.5, "mixed": None, "tags": ["d", None]},
    ]
    write_jsonl(tmp_path / "in.jsonl", [{"text": TEXTS[0], **row} for row in odd])
    run(spec(tmp_path, tiny_model, output=tmp_path / "out.parquet"))
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.column("n").to_pylist() == [None, None, 1.0, 2.5]
    assert found.column("mixed").to_pylist() == ["a", '[1, "x"]', str(2**70), None]
    assert found.column("name").to_pylist() == ["half \\ud800", "b", None, None]
    assert found.column("tags").to_pylist() == [None, [], ["c"], ["d", None]]
    for name in ("out.csv", "out.jsonl"):
        run(spec(tmp_path, tiny_model, output=tmp_path / name))
        assert "half \\ud800" in (tmp_path / name).read_text(encoding="utf-8")


def test_values_that_json_lacks(tmp_path: Path, tiny_model: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    day = pa.array([0], pa.timestamp("ms"))
    table = pa.table({"when": day, "n": [float("nan")], "text": [TEXTS[0]]})
    pq.write_table(table, tmp_path / "in.parquet")
    run(spec(tmp_path, tiny_model, input=tmp_path / "in.parquet"))
    (row,) = read_jsonl(tmp_path / "out.jsonl")
    assert (row["when"], row["n"]) == ("1970-01-01 00:00:00", None)


def test_numbers_that_json_lacks_stay_as_they_were(tmp_path: Path, tiny_model: Path) -> None:
    row = f'{{"text": {json.dumps(TEXTS[0])}, "a": NaN, "b": 1e999, "c": [-Infinity, {{"d": NaN}}]'
    (tmp_path / "in.jsonl").write_text(row + ', "e": "NaN", "f": "1e999"}\n')
    run(spec(tmp_path, tiny_model))
    line = (tmp_path / "out.jsonl").read_text()
    assert '"a": NaN, "b": 1e999, "c": [-1e999, {"d": NaN}], "e": "NaN", "f": "1e999",' in line
    (found,) = read_jsonl(tmp_path / "out.jsonl")
    assert found["b"] == math.inf
    assert math.isnan(found["a"])


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.json"])
def test_binary_cells_are_base64(tmp_path: Path, tiny_model: Path, name: str) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    raw = bytes(range(256))
    table = pa.table({"raw": [raw], "more": [[b"\xff", None]], "text": [TEXTS[0]]})
    pq.write_table(table, tmp_path / "in.parquet")
    run(spec(tmp_path, tiny_model, input=tmp_path / "in.parquet", output=tmp_path / name))
    with (tmp_path / name).open(encoding="utf-8", newline="") as stream:
        if name == "out.csv":
            (row,) = csv.DictReader(stream)
            row["more"] = json.loads(row["more"])
        elif name == "out.json":
            (row,) = json.load(stream)
        else:
            row = json.loads(stream.read())
    assert base64.b64decode(row["raw"]) == raw
    assert row["more"] == ["/w==", None]


def test_bad_records_are_not_done_again_and_stay_counted(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad_lines(tmp_path / "in.jsonl")
    run(spec(tmp_path, tiny_model, output=tmp_path / "whole.jsonl"))
    save = JobDirectory.save

    def save_first(self: JobDirectory, index: int, results: Any) -> None:
        if index > 0:
            raise KeyboardInterrupt
        save(self, index, results)

    monkeypatch.setattr(JobDirectory, "save", save_first)
    with pytest.raises(KeyboardInterrupt):
        run(spec(tmp_path, tiny_model))
    saved: list[int] = []

    def save_noted(self: JobDirectory, index: int, results: Any) -> None:
        saved.append(index)
        save(self, index, results)

    monkeypatch.setattr(JobDirectory, "save", save_noted)
    report = run(spec(tmp_path, tiny_model))
    assert saved == [1, 2]
    assert (report.n_resumed, report.failures.n_failed, len(report.messages)) == (4, 5, 5)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_a_file_that_breaks_off_keeps_what_came_before(tmp_path: Path, tiny_model: Path) -> None:
    noise = random.Random(3)
    rows = [{"text": TEXTS[0], "noise": noise.randbytes(8192).hex()} for _ in range(40)]
    data = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    (tmp_path / "in.jsonl.gz").write_bytes(data[: len(data) // 2])
    report = run(spec(tmp_path, tiny_model, input=tmp_path / "in.jsonl.gz"))
    found = read_jsonl(tmp_path / "out.jsonl")
    assert len(found) == report.n_records > 5
    assert [row["summary_error"] is None for row in found] == [True] * (len(found) - 1) + [False]
    assert f"damaged after line {len(found) - 1}: " in found[-1]["summary_error"]
    (tmp_path / "in.jsonl.gz").write_bytes(data[:30])
    (tmp_path / "out.jsonl").unlink()
    with pytest.raises(DataFormatError, match="damaged after line 0"):
        run(spec(tmp_path, tiny_model, input=tmp_path / "in.jsonl.gz"))


def test_columns_that_come_late_are_kept_and_never_covered(
    tmp_path: Path, tiny_model: Path
) -> None:
    rows = [*records(5), {"text": TEXTS[0], "tag": "late"}]
    write_jsonl(tmp_path / "in.jsonl", rows)
    run(spec(tmp_path, tiny_model, output=tmp_path / "out.csv"))
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["tag"] for row in csv.DictReader(stream)] == [*[""] * 5, "late"]
    write_jsonl(tmp_path / "in.jsonl", [*rows, {"text": TEXTS[0], "summary": "mine"}])
    with pytest.raises(ConfigError, match="has a column 'summary' already; choose another name"):
        run(spec(tmp_path, tiny_model))
    assert run(spec(tmp_path, tiny_model, output_field="title")).n_resumed == 7


def test_the_text_is_found_as_without_an_output(tmp_path: Path, tiny_model: Path) -> None:
    (tmp_path / "in.dat").write_text(
        "".join(json.dumps({"source": text}) + "\n" for text in TEXTS[:2]), encoding="utf-8"
    )
    job = spec(tmp_path, tiny_model, input=tmp_path / "in.dat", format="jsonl")
    assert run(job).failures.n_failed == 0
    with pytest.raises(ConfigError, match=r"cannot tell the format of .*in\.dat"):
        run(spec(tmp_path, tiny_model, input=tmp_path / "in.dat"))


def test_a_worker_that_dies_is_replaced(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(12))
    started: list[Any] = []
    popen = subprocess.Popen

    def start(*args: Any, **keywords: Any) -> Any:
        process = popen(*args, **keywords)
        started.append(process)
        if len(started) == 1:
            process.kill()
        return process

    monkeypatch.setattr("sumfit.jobs.pool.subprocess.Popen", start)
    assert run(spec(tmp_path, tiny_model)).n_records == 12
    assert len(started) == 2

    def die(*args: Any, **keywords: Any) -> Any:
        process = popen(*args, **keywords)
        process.kill()
        return process

    monkeypatch.setattr("sumfit.jobs.pool.subprocess.Popen", die)
    with pytest.raises(ServiceError, match=r"a worker died 3 times .* on records 1 to 4"):
        run(spec(tmp_path, tiny_model, output=tmp_path / "other.jsonl"))


@pytest.mark.skipif(os.name == "nt", reason="process groups of Unix")
def test_ctrl_c_ends_a_job_and_its_workers_without_a_traceback(
    tmp_path: Path, tiny_model: Path
) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(20_000))
    command = [sys.executable, "-m", "sumfit", "summarize", str(tmp_path / "in.jsonl")]
    command += ["-o", str(tmp_path / "out.jsonl"), "--model", str(tiny_model)]
    command += ["--max-chars", "40", "--processes", "2"]
    parts = tmp_path / "out.jsonl.job"
    for n_parts in (0, 1):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
        deadline = time.monotonic() + 300
        while not (parts / "job.json").exists() or len(list(parts.glob("0*.jsonl"))) < n_parts:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(0.3)  # where there is no part yet, the workers are importing
        os.killpg(process.pid, signal.SIGINT)
        _, messages = process.communicate(timeout=120)
        assert (process.returncode, messages) == (130, b"")
    assert list(parts.glob("0*.jsonl"))


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_a_table_without_records_keeps_its_columns(
    tmp_path: Path, tiny_model: Path, kind: str, output: str
) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = tmp_path / f"in.{kind}"
    if kind == "parquet":
        pq.write_table(
            pa.table({"text": pa.array([], pa.string()), "n": pa.array([], pa.int32())}), file
        )
    else:
        file.write_text("text,n\n" if kind == "csv" else "text\tn\n")
    job = spec(tmp_path, tiny_model, input=file, output=tmp_path / output)
    assert run(job).n_records == 0
    expected = ["text", "n", *job.result_columns.values()]
    if output == "out.csv":
        assert job.output.read_text() == ",".join(expected) + "\n"
    else:
        schema = pq.read_schema(job.output)
        assert schema.names == expected
        assert schema.field("n").type == (pa.int32() if kind == "parquet" else pa.string())


def test_chunks_hold_all_records_in_order(tmp_path: Path, tiny_model: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", records(10))
    chunks = list(read_chunks(spec(tmp_path, tiny_model)))
    assert [chunk.index for chunk in chunks] == [0, 1, 2]
    found = [record for chunk in chunks for record in chunk.records]
    assert [record["text"] for record in found] == [record["text"] for record in records(10)]
    assert [record["line"] for record in found] == list(range(1, 11))
    assert {chunk.columns for chunk in chunks} == {("id", "text")}


def test_progress_says_how_far_how_fast_and_how_long() -> None:
    stream = io.StringIO()
    progress = Progress(1000, n_resumed=100, stream=stream)
    progress.add(300, 2)
    now = progress._start + 10
    line = "400 of 1,000 records (40%), 30.0/s, 20 s left, 2 without a summary"
    assert progress.line(now) == line
    progress.close()
    assert stream.getvalue() == ""  # a short job in a log: its last line says all
    progress._last -= 15
    progress.add(100)
    progress.close()
    assert [line.split(",")[0] for line in stream.getvalue().splitlines()] == ["500 of 1"] * 2
    unknown = Progress(None, stream=stream)
    unknown.add(50, 0)
    assert unknown.line(unknown._start + 10) == "50 records, 5.0/s"


def kill_at_random_moments(
    tmp_path: Path, tiny_model: Path, *, n_kills: int, n_records: int, seed: int
) -> None:
    """Run a job, kill -9 it again and again, then let it finish and compare."""
    rng = random.Random(seed)
    write_jsonl(tmp_path / "in.jsonl", records(n_records))
    run(spec(tmp_path, tiny_model, output=tmp_path / "whole.jsonl"))
    command = [sys.executable, "-m", "sumfit", "summarize", str(tmp_path / "in.jsonl")]
    command += ["-o", str(tmp_path / "out.jsonl"), "--model", str(tiny_model)]
    command += ["--max-chars", "40", "--processes", "2", "--field", "text"]
    n_parts: list[int] = []
    for _ in range(n_kills):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        # From the start of the program to beyond the first parts, counted from what it has done.
        wait_for = rng.choice([0, 1, 1, 2, 3])
        deadline = time.monotonic() + 300
        parts = tmp_path / "out.jsonl.job"
        while len(list(parts.glob("0*.jsonl"))) < (n_parts or [0])[-1] + wait_for:
            assert time.monotonic() < deadline
            if process.poll() is not None:
                break
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_parts.append(len(list(parts.glob("0*.jsonl"))))
    finished = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
    assert read_jsonl(tmp_path / "out.jsonl") == read_jsonl(tmp_path / "whole.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.jsonl",
        "out.jsonl",
        "whole.jsonl",
    ]


@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a signal of Unix")
def test_a_job_killed_twice_is_complete_in_order_without_duplicates(
    tmp_path: Path, tiny_model: Path
) -> None:
    kill_at_random_moments(tmp_path, tiny_model, n_kills=2, n_records=600, seed=1)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is a signal of Unix")
def test_a_job_killed_ten_times_is_complete_in_order_without_duplicates(
    tmp_path: Path, tiny_model: Path
) -> None:
    kill_at_random_moments(tmp_path, tiny_model, n_kills=10, n_records=6000, seed=2)


@pytest.mark.parametrize("n_chunks", [0, 1, 16, 17, 4096, 4097, 15_625])
def test_read_tasks_of_ray_share_all_chunks_and_stay_few(n_chunks: int) -> None:
    todo = list(range(3, 3 + n_chunks))
    shares = ray_engine._shares(todo)
    assert [chunk for share in shares for chunk in share] == todo
    assert all(len(share) >= 16 for share in shares[:-1])
    assert len(shares) <= 256, "each reads the input from its beginning"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what Ray itself warns of is not ours
def test_ray_gives_the_same_output(tmp_path: Path, tiny_model: Path) -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed")
    file = write_jsonl(tmp_path / "in.jsonl", [*records(99), {"id": 99, "text": " "}])
    file.write_text(file.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    run(spec(tmp_path, tiny_model))
    job = spec(tmp_path, tiny_model, output=tmp_path / "ray.jsonl", engine="ray", n_processes=2)
    try:
        report = run(job)
    finally:
        ray.shutdown()
    assert (report.n_records, report.failures.n_failed) == (101, 2)
    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["out.csv", "out.tsv"])
def test_lists_and_objects_of_the_input_are_json_in_a_table(
    tmp_path: Path, tiny_model: Path, name: str
) -> None:
    nested = {"tags": ["a", "é"], "meta": {"x": None, "ok": True}, "n": 1.5, "flag": True}
    write_jsonl(tmp_path / "in.jsonl", [{"text": TEXTS[0], **nested}])
    run(spec(tmp_path, tiny_model, output=tmp_path / name))
    delimiter = "\t" if name.endswith("tsv") else ","
    with (tmp_path / name).open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file, delimiter=delimiter)
    assert json.loads(row["tags"]) == nested["tags"]
    assert json.loads(row["meta"]) == nested["meta"]
    assert (row["n"], row["flag"]) == ("1.5", "True")
