"""The code and the commands of the pages on evaluation and on the paper work as written."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer

from sumfit.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("evaluation.md", "reproducing.md")]


def blocks(page: Path) -> list[tuple[str, str]]:
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_python_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code, *_ = [text for language, text in blocks(PAGES[0]) if language == "python"]
    exec(compile(code, "docs/evaluation.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == re.search(r"# ([\d.]+)$", code, re.MULTILINE)[1]  # type: ignore[index]
    assert lines[1].startswith("metric:rouge-f1|")
    assert float(lines[2]) > 0


def commands() -> list[str]:
    found = [text for page in PAGES for language, text in blocks(page) if not language]
    lines = "".join(found).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("sumfit ")]


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
    known = {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    used = {word for word in rest if word.startswith("--")}
    assert used <= known
    recipes = [word for word in rest if word.endswith(".toml")]
    assert all((ROOT / recipe).is_file() for recipe in recipes)


def test_the_page_on_the_paper_names_every_table_and_the_size_of_every_network() -> None:
    torch = pytest.importorskip("torch")
    from sumfit.models.network import build_network
    from sumfit.reproduction.paper import TABLES
    from sumfit.training import load_recipe

    text = PAGES[1].read_text(encoding="utf-8")
    assert set(TABLES) <= set(re.findall(r"`(table\d)`", text))
    sizes = re.findall(r"^\| `([\w-]+-open)` \|.*\| ([\d.]+) \|$", text, re.MULTILINE)
    assert len(sizes) == 5
    for name, stated in sizes:
        recipe = load_recipe(ROOT / "recipes" / f"{name}.toml")
        with torch.device("meta"):
            network = build_network(recipe.system, recipe.model)
        n_weights = sum(weights.numel() for weights in network.parameters())
        assert float(stated) == round(n_weights / 1e6, 1)
