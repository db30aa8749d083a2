"""Help: of every command, without its extra; common options first; nothing cut."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys

import pytest

from sumfit.cli.commands import COMMANDS
from tests.cli.conftest import Sumfit

EXTRAS = (
    "fastapi",
    "h11",
    "httpx",
    "onnx",
    "onnxscript",
    "prometheus_client",
    "pyarrow",
    "ray",
    "rouge_score",
    "safetensors",
    "starlette",
    "tensorboard",
    "torch",
    "uvicorn",
    "zstandard",
)
FIRST = ["max-chars", "max-words", "preset", "max-length", "unit", "n-best", "fill", "style"]


def test_every_command_has_help_in_a_plain_installation() -> None:
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({EXTRAS!r}))\n"
        "from sumfit.cli.app import run\n"
        f"print([run([name, '--help']) for name in {list(COMMANDS)!r}])\n"
        "run(['serve'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.splitlines()[-1] == str([0] * len(COMMANDS))
    assert "To run it: pip install 'sumfit[serve]'" in done.stdout
    assert done.stderr.startswith("error: ")
    assert "run: pip install 'sumfit[serve]'" in done.stderr


@pytest.mark.parametrize("command", ["text", "summarize", "inspect"])
def test_the_options_that_matter_stand_first(sumfit: Sumfit, command: str) -> None:
    out = sumfit(command, "--help").out
    panels = re.split(r"^╭─ (.*?) ─+╮$", out, flags=re.MULTILINE)[1:]
    names, bodies = panels[::2], panels[1::2]
    assert names[:2] == ["Arguments", "Options"]
    assert "Search and choice" in names
    options = re.findall(r"^│ --([\w-]+)", bodies[1], re.MULTILINE)
    assert options[: len(FIRST)] == FIRST
    assert len(options) <= 13
    others = [re.findall(r"^│ --([\w-]+)", body, re.MULTILINE) for body in bodies[2:]]
    assert sum(map(len, others)) > 40


def test_values_of_closed_choices_are_in_the_help(sumfit: Sumfit) -> None:
    out = re.sub(r"[│\s]+", " ", sumfit("text", "--help").out)
    for values in (
        "auto, news, commit, title, subject, synopsis, plain",
        "natural, prefer, single",
        "error|cut",
        "select|lead",
        "sentence, title, source",
    ):
        assert values in out


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_of_help_is_cut(
    sumfit: Sumfit, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert "…" not in sumfit(command, "--help").out


@pytest.mark.parametrize("command", ["", *COMMANDS, "data check", "git-hook install"])
def test_paragraphs_of_help_break_where_the_terminal_ends(sumfit: Sumfit, command: str) -> None:
    lines = [line.rstrip() for line in sumfit(*command.split(), "--help").out.splitlines()]
    prose = [line for line in lines if not line.startswith(("╭", "│", "╰"))]
    assert len([line for line in prose if line]) >= 2, "no word on what the command is for"
    for line, after in itertools.pairwise(prose):
        if line and after:  # the same paragraph, for there is an empty line between two
            assert len(f"{line} {after.split()[0]}") > 79, line


def test_warmup_compiles_what_is_missing_and_says_how_long_it_took(sumfit: Sumfit) -> None:
    first = sumfit("warmup")
    assert (first.code, first.err) == (0, "")
    assert re.fullmatch(
        r"(compiled \d+ functions|all compiled already, loaded) in \d+\.\d s\n", first.out
    )
    assert sumfit("warmup").out.startswith("all compiled already, loaded in ")


@pytest.mark.parametrize("words", ["", "text", "train", "serve", "data check", "git-hook install"])
def test_switches_show_no_type_and_h_is_help(sumfit: Sumfit, words: str) -> None:
    long = sumfit(*words.split(), "--help")
    assert long.code == 0
    assert "<bool>" not in long.out
    assert sumfit(*words.split(), "-h") == long
    assert re.search(r"--help +-h +Show this message", long.out)
