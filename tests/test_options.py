"""An option is the same everywhere: Python, command line, HTTP, types and documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from sumfit import Options
from sumfit.decoding import DecodeOptions
from sumfit.errors import ConfigError
from sumfit.options import GROUPS, OPTIONS, Option, check_option, default_of
from sumfit.pipeline.options import CHOICES

ROOT = Path(__file__).parents[1]
COMMANDS = ("text", "summarize", "inspect")


def wrong_values(one: Option) -> list[Any]:
    """Values just outside the declaration."""
    if one.name in CHOICES:
        return ["no such value"]
    wrong: list[Any] = [] if one.is_optional else [None]
    if one.kind in (int, float):
        wrong += [True, "1"]
    if one.kind is bool:
        wrong += [1, "yes"]
    if one.kind is tuple:
        wrong += ["phrase", [""], [5]]
    if one.at_least is not None:
        wrong.append(one.at_least - 1)
    if one.at_most is not None:
        wrong.append(one.at_most + 1)
    if one.above is not None:
        wrong.append(one.above)
    return wrong


@pytest.mark.parametrize("name", OPTIONS)
def test_python_has_the_declared_default_and_range(name: str) -> None:
    one = OPTIONS[name]
    assert getattr(Options(), name) == one.default == default_of(name)
    assert check_option(one, one.default) == one.default
    assert one.group in GROUPS
    for value in wrong_values(one):
        with pytest.raises(ConfigError, match=rf"^{name} must "):
            Options(**{name: value})
    for value in (one.at_least, one.at_most, *CHOICES.get(name, ())):
        if value is not None:
            assert getattr(Options(**{name: value}), name) == value


def test_the_fields_are_the_declarations() -> None:
    assert [field.name for field in fields(Options)] == list(OPTIONS)
    for name in OPTIONS:
        assert f"    {name}: " in str(Options.__doc__)


def test_decoding_has_the_same_defaults_but_where_it_says_otherwise() -> None:
    own = {"ending", "bonus", "unit_bonus", "words_per_vertex", "constraints", "max_expansions"}
    shared = {field.name: field.default for field in fields(DecodeOptions)}
    both = set(shared) & set(OPTIONS)
    assert own < both
    assert {name: shared[name] for name in both - own} == {
        name: default_of(name) for name in both - own
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_has_every_option_once(command: str) -> None:
    from sumfit.cli.app import load_command

    found = {parameter.name: parameter for parameter in load_command(command).params}
    for name, one in OPTIONS.items():
        if not one.is_flag:
            assert name not in found
            continue
        flag = one.long_flag
        assert found[name].opts == [flag]
        assert found[name].default in (None, [], ())  # left out: the library's holds
        off = [f"--no-{flag[2:]}"] if one.kind is bool else []
        assert found[name].secondary_opts == off
        assert found[name].multiple == (one.kind is tuple)
        assert bool(found[name].is_flag) == (one.kind is bool)
        assert (found[name].rich_help_panel or "") == one.group


def test_requests_have_every_option_with_default_and_range() -> None:
    pytest.importorskip("fastapi", reason="fastapi is not installed")
    from sumfit.serving.schemas import SummarizeRequest

    schema = SummarizeRequest.model_json_schema()["properties"]
    for name, one in OPTIONS.items():
        if not one.is_served:
            assert name not in schema
            continue
        default = list(one.default) if isinstance(one.default, tuple) else one.default
        assert schema[name].get("default") == default
        (kind,) = (part for part in schema[name]["anyOf"] if part.get("type") != "null")
        assert kind.get("minimum") == one.at_least
        assert kind.get("maximum") == (one.served_at_most or one.at_most)
        if name in CHOICES and not one.registry:
            known = [value for value in CHOICES[name] if value is not None]
            assert kind.get("enum") == known


@pytest.mark.parametrize("script", ["make_options_page.py", "make_keywords.py"])
def test_what_is_made_from_the_declarations_is_current(script: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_the_page_has_a_row_for_every_option() -> None:
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE)
    assert sorted(rows) == sorted(OPTIONS)
