"""What type checkers know of a call, and that it is what the library takes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from sumfit import Options
from sumfit.cleaning import INPUT_KINDS
from sumfit.decoding import METHODS
from sumfit.length import PRESETS, UNITS
from sumfit.pipeline import dropin, keywords
from sumfit.pipeline.options import CHOICES, LENGTH_KEYWORDS, OnError
from sumfit.runtime import default_model_path

FOLDER = Path(__file__).parent / "typing"
SOURCE = default_model_path().parent.parent.parent


def said_of(checker: list[str], name: str) -> dict[int, str]:
    """Lines of a file that a checker finds fault with."""
    done = subprocess.run(
        [*checker, str(FOLDER / name)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=FOLDER,
        env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(SOURCE), "PYTHONPATH": str(SOURCE)},
    )
    found = re.findall(rf"{re.escape(name)}:(\d+):(?:\d+)? ?-? ?error: (.*)", done.stdout)
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return {int(line): message for line, message in found}


@pytest.mark.parametrize("name", ["mypy", "pyright"])
def test_checkers_take_right_calls_and_refuse_wrong_ones(name: str, tmp_path: Path) -> None:
    if name == "mypy":
        pytest.importorskip("mypy", reason="mypy is not installed")
        flags = [
            "--strict",
            "--config-file=",
            "--ignore-missing-imports",
            "--follow-imports=silent",
        ]
        checker = [sys.executable, "-m", "mypy", *flags, "--cache-dir", str(tmp_path)]
    else:
        program = shutil.which("pyright", path=str(Path(sys.executable).parent))
        if program is None:
            pytest.skip("pyright is not installed")
        checker = [program]
    assert said_of(checker, "right_calls.py") == {}
    lines = (FOLDER / "wrong_calls.py").read_text(encoding="utf-8").splitlines()
    expected = [number for number, line in enumerate(lines, 1) if line.endswith("# wrong")]
    assert sorted(said_of(checker, "wrong_calls.py")) == expected


def values(hint: Any) -> set[Any]:
    """Members of a literal, also of one beside ``None``."""
    inner = [one for part in get_args(hint) for one in (get_args(part) or [part])]
    return {None if one is type(None) else one for one in inner}


def test_the_keywords_are_those_of_the_library() -> None:
    options = set(keywords.OptionKeywords.__annotations__)
    assert options == {field.name for field in fields(Options)}
    names = {*LENGTH_KEYWORDS, *options} - {"limits"}  # of which the type of the result depends
    assert set(keywords.OneKeywords.__annotations__) == names
    both = {*names, "on_error", "batch_size"}
    assert set(keywords.Keywords.__annotations__) == both
    assert set(keywords.SeveralKeywords.__annotations__) == both


def test_the_keywords_of_the_drop_in_are_those_that_it_knows() -> None:
    names = set(keywords.OneKeywords.__annotations__)
    call = set(keywords.DropInKeywords.__annotations__) - names
    assert call == {*dropin._IGNORED, "max_new_tokens", "min_new_tokens", "batch_size"}
    loading = set(keywords.PipelineKeywords.__annotations__) - names - call
    assert loading == dropin._OF_LOADING - {"batch_size"}


def test_the_values_are_those_of_the_library() -> None:
    assert get_args(keywords.PresetName) == tuple(PRESETS)
    assert get_args(keywords.UnitName) == tuple(UNITS)
    assert get_args(keywords.MethodName) == tuple(sorted(METHODS))
    assert get_args(keywords.InputKind) == INPUT_KINDS
    hints = get_type_hints(keywords.Keywords)
    for name, allowed in CHOICES.items():
        assert values(hints[name]) == set(allowed), name
    assert values(hints["on_error"]) == set(get_args(OnError))
