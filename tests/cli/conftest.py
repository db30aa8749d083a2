"""Running the command line inside the test process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sumfit.cli.app import run


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Sumfit = Callable[..., Outcome]


class _Input(io.TextIOWrapper):
    def __init__(self, data: bytes, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.fixture
def sumfit(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Sumfit:
    """Call as ``sumfit("text", "--max-chars", "40", stdin=b"...")``."""
    monkeypatch.setenv("SUMFIT_MODEL", str(tiny_model))
    monkeypatch.setenv("SUMFIT_QUIET", "1")  # a cold cache is no difference between two runs

    def call(*arguments: str, stdin: bytes | None = None) -> Outcome:
        given = _Input(stdin or b"", is_terminal=stdin is None)
        monkeypatch.setattr(sys, "stdin", given)
        code = run(list(arguments))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
