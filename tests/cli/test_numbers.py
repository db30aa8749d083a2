"""Numbers of the command line that are none: refused by every command, with the value named."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Iterator

import pytest
import typer

from sumfit.cli.commands import COMMANDS

TEXT = "The council closed the old bridge on Tuesday."
ARGUMENTS = {
    "text": [TEXT, "--max-chars=40"],
    "summarize": ["summarize", "{file}", "--max-chars=40"],
    "inspect": ["inspect", TEXT],
    "baseline lead": ["baseline", "lead", "{file}"],
    "baseline llm": ["baseline", "llm", "{file}", "--limit=8", "--endpoint=http://x", "--model=m"],
    "judge": ["judge", "{file}", "{file}", "--sources={file}", "--endpoint=http://x", "--model=m"],
    "serve": ["serve"],
}
"""What else each command with real-valued options needs."""


def real_options() -> Iterator[tuple[str, str]]:
    """Every option of a real number that a command has."""
    for name, command in COMMANDS.items():
        module, _, attribute = command.target.partition(":")
        found = getattr(importlib.import_module(module), attribute)
        functions = {name: found}
        if isinstance(found, typer.Typer):
            functions = {f"{name} {one.name}": one.callback for one in found.registered_commands}
        for place, function in functions.items():
            for parameter in inspect.signature(function, eval_str=True).parameters.values():
                kind, option = typing.get_args(parameter.annotation)
                if float in (kind, *typing.get_args(kind)):
                    own = [
                        word
                        for word in (option.default, *option.param_decls)
                        if isinstance(word, str)
                    ]
                    yield place, own[0] if own else "--" + parameter.name.replace("_", "-")


def test_real_numbers_are_where_this_test_looks():
    assert {command for command, _ in real_options()} == set(ARGUMENTS)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize(("command", "option"), list(real_options()))
def test_what_is_no_number_is_refused(sumfit, tmp_path, command, option, value):
    file = tmp_path / "texts.txt"
    file.write_text(f"{TEXT}\n")
    words = [word.format(file=file) for word in ARGUMENTS[command]]
    words = [word for word in words if not (option == "--ratio" and word.startswith("--limit"))]
    if option == "--gpus":
        words += ["-o", str(tmp_path / "out.txt"), "--engine=ray"]
    result = sumfit(*words, f"{option}={value}")
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error: ")
    assert option.strip("-").replace("-", "_") in result.err.replace("-", "_")
    assert f" {value}" in result.err


@pytest.mark.parametrize("option", ["--price-in", "--price-out"])
def test_a_price_is_not_negative(sumfit, tmp_path, option):
    file = tmp_path / "texts.txt"
    file.write_text(f"{TEXT}\n")
    words = [word.format(file=file) for word in ARGUMENTS["judge"]]
    result = sumfit(*words, f"{option}=-1")
    name = option.strip("-").replace("-", "_")
    assert (result.code, result.err) == (
        2,
        f"error: {name} must be a number of at least 0, was -1.0; give the price of a million "
        "tokens, or leave it out\n",
    )
