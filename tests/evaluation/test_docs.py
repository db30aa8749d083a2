"""The code and the commands of docs/evaluation.md work as written."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer

from sumfit.cli.commands import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_python_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code, *_ = [text for language, text in BLOCKS if language == "python"]
    exec(compile(code, "docs/evaluation.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == re.search(r"# ([\d.]+)$", code, re.MULTILINE)[1]  # type: ignore[index]
    assert lines[1].startswith("metric:rouge-f1|")
    assert float(lines[2]) > 0


def commands() -> list[str]:
    text = "".join(text for language, text in BLOCKS if not language).replace("\\\n", " ")
    return [line for line in text.splitlines() if line.startswith("sumfit ")]


@pytest.mark.parametrize("line", commands())
def test_every_option_of_a_command_exists(line: str) -> None:
    _, name, *rest = shlex.split(line)
    module, _, attribute = COMMANDS[name].target.partition(":")
    found = getattr(importlib.import_module(module), attribute)
    if isinstance(found, typer.Typer):
        command = typer.main.get_command(found).commands[rest[0]]  # type: ignore[attr-defined]
    else:
        app = typer.Typer()
        app.command()(found)
        command = typer.main.get_command(app)
    known = {option for parameter in command.params for option in parameter.opts}
    used = {word for word in rest if word.startswith("--")}
    assert used <= known
