"""Files that are written: links, permissions, what is there already, and disks that fail."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sumfit.jobs import JobSpec, job
from sumfit.jobs.parts import JobDirectory
from sumfit.writing import write_whole
from tests.cli.conftest import Sumfit
from tests.jobs.power_cut import fake_run
from tests.tiny_model import TEXTS

LIMIT = ("--max-chars", "40")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(TEXTS)))
    return file


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs with summaries by formula, without worker processes."""
    monkeypatch.setattr(job, "run_local", fake_run)


@pytest.mark.usefixtures("quick")
def test_a_link_stays_a_link_and_permissions_stay(
    sumfit: Sumfit, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target.jsonl"
    target.write_text("old\n")
    target.chmod(0o640)
    link = tmp_path / "out.jsonl"
    link.symlink_to(target)
    result = sumfit("summarize", str(source), *LIMIT, "-o", str(link), "--overwrite")
    assert result.code == 0, result.err
    assert link.is_symlink()
    assert len(target.read_text().splitlines()) == len(TEXTS)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    (target.parent / "saved.log").unlink()
    assert [path.name for path in target.parent.iterdir()] == ["target.jsonl"]


def test_a_stream_keeps_link_and_permissions_too(sumfit: Sumfit, tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text("old\n")
    target.chmod(0o600)
    (tmp_path / "out.txt").symlink_to(target)
    data = TEXTS[0].encode()
    arguments = ("summarize", *LIMIT, "-o", str(tmp_path / "out.txt"))
    refused = sumfit(*arguments, stdin=data)
    assert (refused.code, target.read_text()) == (2, "old\n")
    assert refused.err == (
        f"error: output {tmp_path / 'out.txt'} exists; add --overwrite to replace it, or give "
        "another name\n"
    )
    assert sumfit(*arguments, "--overwrite", stdin=data).code == 0
    assert (tmp_path / "out.txt").is_symlink()
    assert len(target.read_text()) <= 41
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "target.txt"]


def test_small_files_keep_link_and_permissions(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o600)
    (tmp_path / "b").symlink_to("a")
    write_whole(tmp_path / "b", b"new")
    assert (tmp_path / "b").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


@pytest.mark.usefixtures("quick")
def test_a_finished_output_is_not_replaced_unless_asked(
    sumfit: Sumfit, source: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    arguments = ["summarize", str(source), "-o", str(output)]
    assert sumfit(*arguments, *LIMIT).code == 0
    first = output.read_bytes()
    for more in ([], ["--restart"], ["--max-chars", "50"]):
        result = sumfit(*arguments, *LIMIT, *more)
        assert result.code == 2
        assert result.err.startswith(f"error: output {output} exists; add --overwrite to replace")
        assert output.read_bytes() == first
        assert not (tmp_path / "out.jsonl.job").exists()
    (source).write_text(json.dumps({"text": TEXTS[1]}) + "\n")
    assert sumfit(*arguments, *LIMIT, "--overwrite").code == 0
    assert len(output.read_text().splitlines()) == 1
    assert sumfit("summarize", str(source), *LIMIT, "--overwrite").code == 2


@pytest.mark.usefixtures("quick")
def test_an_output_that_appears_meanwhile_is_kept(
    sumfit: Sumfit, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.jsonl"

    def meanwhile(spec: JobSpec, chunks: Iterator[Any], save: Any) -> None:
        fake_run(spec, chunks, save)
        output.write_text("somebody else's\n")

    monkeypatch.setattr(job, "run_local", meanwhile)
    arguments = ["summarize", str(source), *LIMIT, "-o", str(output)]
    result = sumfit(*arguments)
    assert result.code == 2
    assert "out.jsonl has appeared, or was there before; finished parts are kept" in result.err
    assert output.read_text() == "somebody else's\n"
    monkeypatch.setattr(job, "run_local", lambda spec, chunks, save: list(chunks))
    again = sumfit(*arguments)
    assert (again.code, output.read_text()) == (2, "somebody else's\n")
    output.unlink()
    result = sumfit(*arguments)
    assert result.code == 0, result.err
    assert f"{len(TEXTS)} of them from an earlier run" in result.err


def stop_after_first(spec: JobSpec, chunks: Iterator[Any], save: Any) -> None:
    for chunk in chunks:
        fake_run(spec, iter([chunk]), save)
        raise KeyboardInterrupt


@pytest.fixture
def stopped(
    sumfit: Sumfit, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Arguments of a job that was stopped after its first part."""
    monkeypatch.setattr(job, "run_local", stop_after_first)
    arguments = ["summarize", str(source), *LIMIT, "-o", str(tmp_path / "out.jsonl")]
    assert sumfit(*arguments).code == 130
    monkeypatch.setattr(job, "run_local", fake_run)
    assert (tmp_path / "out.jsonl.job").is_dir()
    return arguments


def test_a_touched_or_moved_input_is_the_same(
    sumfit: Sumfit, source: Path, tmp_path: Path, stopped: list[str]
) -> None:
    os.utime(source, (1, 1))
    moved = source.rename(tmp_path / "moved.jsonl")
    result = sumfit("summarize", str(moved), *stopped[2:])
    assert result.code == 0, result.err
    assert f"{len(TEXTS)} of them from an earlier run" in result.err


@pytest.mark.parametrize(
    ("change", "more", "message"),
    [
        (b"x", [], "the input has changed since ("),
        (b"", ["--max-chars", "41"], "--max-chars 41 was 40 before."),
        (b"", ["--method", "pathmap"], "--method 'pathmap' was not given before."),
        (b"", ["--field", "text"], "--field is 'text', was None."),
        (b"x", ["--max-chars", "41"], "(other bytes); --max-chars 41 was 40 before."),
    ],
)
def test_a_changed_job_is_refused_with_the_difference(
    sumfit: Sumfit,
    source: Path,
    stopped: list[str],
    change: bytes,
    more: list[str],
    message: str,
) -> None:
    before = source.stat()
    data = bytearray(source.read_bytes())
    data[-3:-2] = change or data[-3:-2]
    source.write_bytes(data)
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))  # size and time tell nothing
    result = sumfit(*stopped, *more)
    assert result.code == 2
    assert message in result.err
    assert "Run it as before to go on, or start over with --restart" in result.err


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("call", ["fsync", "replace", "mkdir"])
def test_a_disk_that_fails_leaves_what_was_there(
    sumfit: Sumfit,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    call: str,
) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("old\n")
    arguments = ["summarize", str(source), *LIMIT, "-o", str(output), "--overwrite"]
    real = getattr(os, call)
    for n_good in range(30):
        left = [n_good]

        def fail(*given: Any, left: list[int] = left, **keywords: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(number, os.strerror(number))
            return real(*given, **keywords)

        monkeypatch.setattr(os, call, fail)
        result = sumfit(*arguments)
        monkeypatch.setattr(os, call, real)
        if result.code == 0:
            break
        assert result.code == 1
        assert result.err.startswith("error: ")
        assert os.strerror(number) in result.err
        assert len(result.err.splitlines()) == 1
        if number in (errno.ENOSPC, errno.EDQUOT):
            assert "make room" in result.err
        assert output.read_text() == "old\n" or len(output.read_text().splitlines()) == len(TEXTS)
        assert not list(tmp_path.glob("out.jsonl.job/output.tmp"))
    else:
        pytest.fail("the job never succeeded")
    assert n_good > 0 or call == "mkdir"
    assert len(output.read_text().splitlines()) == len(TEXTS)


def test_a_stream_that_fails_says_where_its_results_are(
    sumfit: Sumfit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.txt"
    output.write_text("old\n")

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    arguments = ("summarize", *LIMIT, "-o", str(output), "--overwrite")
    result = sumfit(*arguments, stdin=TEXTS[0].encode())
    assert result.code == 1
    assert result.err.splitlines() == [
        f"what was done so far is in {output}.part",
        f"error: reading or writing failed: No space left on device: {output}; make room, or write "
        "to another disk",
    ]
    assert output.read_text() == "old\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_device_without_room_is_one_error(sumfit: Sumfit) -> None:
    result = sumfit("summarize", *LIMIT, "-o", "/dev/full", stdin=TEXTS[0].encode())
    assert result.code == 1
    assert "No space left on device: /dev/full; make room" in result.err


@pytest.mark.skipif(os.name == "nt", reason="pipes of Unix")
def test_a_closed_pipe_ends_it_quietly(tiny_model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(f"{TEXTS[0]}\n" * 300)
    command = [sys.executable, "-m", "sumfit", "summarize", str(tmp_path / "in.txt"), *LIMIT]
    with subprocess.Popen(
        [*command, "--model", str(tiny_model)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=120) == 1
        assert process.stderr.read() == b""


def test_an_output_that_is_a_pipe_is_refused(sumfit: Sumfit, source: Path, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes in the file system here")
    os.mkfifo(tmp_path / "out.jsonl")
    result = sumfit("summarize", str(source), *LIMIT, "-o", str(tmp_path / "out.jsonl"))
    assert result.code == 2
    assert "is no plain file, and a job puts a whole file in its place" in result.err


@pytest.mark.parametrize("where", ["input", "output", "model"])
def test_a_line_feed_in_a_name_makes_no_second_message(
    sumfit: Sumfit, source: Path, tmp_path: Path, where: str
) -> None:
    evil = tmp_path / "a\nerror: all is lost"
    arguments = {
        "input": ["summarize", str(evil), *LIMIT],
        "output": ["summarize", str(source), *LIMIT, f"--output={evil}/out.jsonl"],
        "model": ["summarize", str(source), *LIMIT, f"--model={evil}"],
    }[where]
    result = sumfit(*arguments)
    assert result.code in (1, 2)
    assert len(result.err.splitlines()) == 1
    assert "a\\nerror: all is lost" in result.err
    evil.write_text("{\n")
    if where == "input":
        result = sumfit(*arguments, "--input-format", "jsonl")
        assert len(result.err.splitlines()) == 2  # the record's, and the count
        assert "a\\nerror: all is lost" in result.err


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("mark", [";", "|", "tab"])
def test_another_delimiter_is_read_and_written(sumfit: Sumfit, tmp_path: Path, mark: str) -> None:
    character = "\t" if mark == "tab" else mark
    rows = [[f'{text} "quoted"{character}', str(i), "a,b"] for i, text in enumerate(TEXTS)]
    stream = io.StringIO()
    csv.writer(stream, delimiter=character).writerows([["text", "id", "x"], *rows])
    file = tmp_path / "in.csv"
    file.write_text(stream.getvalue())
    output = tmp_path / "out.csv"
    arguments = ["summarize", str(file), *LIMIT, "--delimiter", mark]
    result = sumfit(*arguments, "-o", str(output))
    assert result.code == 0, result.err
    with output.open(newline="") as found:
        written = list(csv.reader(found, delimiter=character))
    assert written[0][:4] == ["text", "id", "x", "summary"]
    assert [row[:3] for row in written[1:]] == rows
    assert "note" not in result.err
    assert sumfit(*arguments).code == 0
    guessed = sumfit(*arguments[:-2], "-o", str(tmp_path / "guessed.csv"))
    assert guessed.code == 0, guessed.err
    shown = "a tab" if mark == "tab" else f"'{mark}'"
    note = (
        f"note: {file} is read as CSV with {shown} between fields (--delimiter ',' if a comma is)"
    )
    assert guessed.err.splitlines()[0] == note
    assert (tmp_path / "guessed.csv").read_bytes() == output.read_bytes()


@pytest.mark.parametrize(
    ("file", "mark", "message"),
    [
        ("in.csv", ";;", "--delimiter must be one character other than a quotation mark"),
        ("in.csv", '"', "--delimiter must be one character"),
        ("in.csv", "", "--delimiter must be one character"),
        ("in.jsonl", ";", "--delimiter ';' is for CSV, was given with jsonl"),
    ],
)
def test_a_delimiter_that_cannot_be_is_refused(
    sumfit: Sumfit, tmp_path: Path, file: str, mark: str, message: str
) -> None:
    (tmp_path / file).write_text("text\nsome words\n")
    arguments = ["summarize", str(tmp_path / file), *LIMIT, "--delimiter", mark]
    for more in ([], ["-o", str(tmp_path / "out.jsonl")]):
        result = sumfit(*arguments, *more)
        assert result.code == 2, result
        assert message in result.err


@pytest.mark.parametrize("more", [[], ["-o", "{tmp}/out.jsonl"]])
def test_records_without_the_field_are_one_error(
    sumfit: Sumfit, tmp_path: Path, more: list[str]
) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text('{"title": "a", "body": "b"}\n' * 5 + "{\n" + '{"body": "c"}\n')
    more = [word.replace("{tmp}", str(tmp_path)) for word in more]
    for flags, names in (([], "'text' or 'source'"), (["--field", "txt"], "'txt'")):
        result = sumfit("summarize", str(file), *LIMIT, *flags, *more)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(
            f"error: {file} has no column {names}; its columns are 'title', 'body'"
        )
        assert len(result.err.splitlines()) == 1


def test_a_field_that_comes_late_is_waited_for(sumfit: Sumfit, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    rows = ['{"other": 1}'] * 5 + [json.dumps({"text": TEXTS[0]})]
    file.write_text("\n".join(rows) + "\n")
    result = sumfit("summarize", str(file), *LIMIT)
    assert result.code == 1
    assert len(result.out.splitlines()) == 6
    assert "5 of 6 texts have no summary" in result.err
    file.write_text("\n".join(['{"other": 1}'] * 64 + rows) + "\n")
    assert sumfit("summarize", str(file), *LIMIT).code == 2


@pytest.mark.usefixtures("quick")
def test_an_array_gives_an_array(sumfit: Sumfit, tmp_path: Path) -> None:
    rows = [{"id": number, "text": text} for number, text in enumerate(TEXTS)]
    (tmp_path / "in.json").write_text(json.dumps(rows, indent=2))
    output = tmp_path / "out.json"
    result = sumfit("summarize", str(tmp_path / "in.json"), *LIMIT, "-o", str(output))
    assert result.code == 0, result.err
    found = json.loads(output.read_text())
    assert [row["id"] for row in found] == list(range(len(TEXTS)))
    assert [row["summary_line"] for row in found] == list(range(1, len(TEXTS) + 1))
    (tmp_path / "in.json").write_text("[]")
    arguments = ["summarize", str(tmp_path / "in.json"), *LIMIT, "-o", str(output)]
    assert sumfit(*arguments, "--overwrite").code == 0
    assert json.loads(output.read_text()) == []


def test_parts_are_only_those_of_finished_records(tmp_path: Path) -> None:
    directory = JobDirectory(tmp_path / "out.jsonl")
    assert not directory.is_begun()
    directory.path.mkdir()
    (directory.path / "000000000.tmp").write_text("half a pa")
    assert directory.is_begun()
    assert directory.finished() == set()
