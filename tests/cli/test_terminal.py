"""What a terminal is shown: progress, announcements, and nothing that could steer it."""

from __future__ import annotations

import io
import subprocess
import sys
from types import SimpleNamespace

import pytest
from numba import njit

import sumfit.compiled  # noqa: F401 - sees what is compiled
from sumfit.cli.terminal import as_flag
from sumfit.compilation import MESSAGE, announce_compilation, begins, n_compiled, on_compilation
from sumfit.errors import Keyword, given
from sumfit.jobs.stream import StreamProgress
from sumfit.text.printable import printable


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_printable_spells_out_what_could_steer() -> None:
    assert printable("a\tb\x1b[2J\x9b\u202ec\ud800 d\né") == (
        "a\\x09b\\x1b[2J\\x9b\\u202ec\\ud800 d\né"
    )


@pytest.mark.parametrize(
    ("keyword", "expected"),
    [
        (given("max_chars", 60), "--max-chars 60"),
        (given("unit"), "--unit"),
        (Keyword("time_limit_s"), "--time-limit"),
        (given("search_time_limit_s", 0.5), "--search-time-limit 0.5"),
        (Keyword("n_workers"), "--workers"),
        (Keyword("n_processes"), "--processes"),
        (Keyword("n_best"), "--n-best"),
        (Keyword("max_n_best"), "--max-n-best"),
        (given("repeat_words", False), "--no-repeat-words"),
        (given("keep_short", True), "--keep-short"),
        (given("keep_short", "yes"), "--keep-short 'yes'"),
        (Keyword("required"), "--require"),
        (given("on_infeasible", "cut"), "--on-infeasible 'cut'"),
        (Keyword("preset", " 'poster'", "poster"), "preset 'poster'"),
        (given("prefix", ""), "--prefix ''"),
    ],
)
def test_a_parameter_is_a_flag_of_the_command_line(keyword: Keyword, expected: str) -> None:
    assert as_flag(keyword) == expected


def test_progress_is_for_terminals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    for stream in (io.StringIO(), Terminal()):
        with StreamProgress("texts", stream=stream) as progress:
            for _ in range(1234):
                progress.advance(0)
        shown = stream.getvalue()
        if isinstance(stream, Terminal):
            assert "1,234 texts, " in shown
            assert shown.endswith("0:00\n")
        else:
            assert shown == ""


def test_no_progress_between_results_on_one_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    stream = Terminal()
    with StreamProgress("texts", stream=stream) as progress:
        progress.advance(0)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("quiet", ["", "0", "1"])
def test_compilation_is_announced_once(monkeypatch: pytest.MonkeyPatch, quiet: str) -> None:
    monkeypatch.setenv("SUMFIT_QUIET", quiet)
    stream = io.StringIO()  # no terminal
    on_compilation(lambda line: None)
    announce_compilation(stream=stream)
    before = n_compiled()
    for _ in range(2):
        njit(lambda x: x + 1)(1)
    assert n_compiled() == before + 2
    assert stream.getvalue() == ("" if quiet == "1" else f"{MESSAGE}\n")


@pytest.mark.parametrize("there", ["closed", "none", "new"])
def test_a_closed_stream_does_not_stop_the_search(
    monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    monkeypatch.delenv("SUMFIT_QUIET", raising=False)
    first, later = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stderr", first)
    announce_compilation()
    first.close()
    monkeypatch.setattr("sys.stderr", {"closed": first, "none": None, "new": later}[there])
    assert njit(lambda x: x + 2)(1) == 3
    assert later.getvalue() == (f"{MESSAGE}\n" if there == "new" else "")


def test_long_compilation_is_heard_of_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 4.0, 11.0, 12.0, 25.5])
    # Not the clock of the whole process, which threads of other tests may ask.
    own = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("sumfit.compilation.time", own)
    heard: list[str] = []
    on_compilation(heard.append)
    for _ in range(5):
        begins()
    assert heard == [
        MESSAGE,
        "compiling: 2 functions in 11 s so far",
        "compiling: 4 functions in 26 s so far",
    ]


def test_the_library_logs_the_first_compilation() -> None:
    code = (
        "import logging, sys\n"
        "logging.basicConfig(level=logging.INFO, format='%(name)s %(levelname)s %(message)s')\n"
        "from numba import njit\n"
        "import sumfit.compiled\n"
        "for _ in range(2): njit(lambda x: x + 1)(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stderr == f"sumfit INFO {MESSAGE}\n"
