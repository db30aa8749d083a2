"""The model of ``llm``, found by its entry point and run by the real command."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sumfit import Summarizer
from tests.integrations.conftest import Outcome
from tests.tiny_model import TEXTS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder in which sumfit is installed as this checkout's pyproject.toml says."""
    if importlib.util.find_spec("llm") is None:
        pytest.skip("llm is not installed")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    info = tmp_path / "packages" / "sumfit-9.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: sumfit\nVersion: 9\n")
    points = [f"{name} = {target}" for name, target in project["entry-points"]["llm"].items()]
    info.joinpath("entry_points.txt").write_text("\n".join(["[llm]", *points, ""]))
    return info.parent


def llm(packages: Path, model: Path, *arguments: str, stdin: str = "") -> Outcome:
    path = os.pathsep.join([str(packages), *sys.path])
    return subprocess.run(
        [sys.executable, "-m", "llm", *arguments],
        env={**os.environ, "PYTHONPATH": path, "SUMFIT_MODEL": str(model)}
        | {"LLM_USER_PATH": str(packages.parent / "llm")},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_command_summarises_and_logs(
    installed: Path, tiny_model: Path, fit: Summarizer
) -> None:
    given = ("-m", "sumfit", "-o", "max_chars", "40")
    done = llm(installed, tiny_model, *given, stdin=TEXTS[0])
    expected = fit(TEXTS[0], max_chars=40)
    assert (done.returncode, done.stdout) == (0, f"{expected.text}\n"), done.stderr
    (entry,) = json.loads(llm(installed, tiny_model, "logs", "--json").stdout)
    assert (entry["model"], entry["response"]) == ("sumfit", expected.text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "limit"),
        (("-o", "max_chars", "0"), "at most 0 chars"),
        (("-o", "max_chars", "40", "-s", "Be brief."), "leave out the system prompt"),
        (("-o", "max_length", "40"), "max_length"),
    ],
)
def test_wrong_calls_are_told(
    installed: Path, tiny_model: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = llm(installed, tiny_model, "-m", "sumfit", *arguments, stdin=TEXTS[0])
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
