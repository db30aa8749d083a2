"""The recipes of CONTRIBUTING for a unit and an option, followed in processes of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sumfit import options
from sumfit.length import UNITS
from sumfit.pipeline import search
from tests.tiny_model import TEXTS

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

# The package, with changed copies of some modules and more modules in some folders.
START = """
import importlib.util, json, sys, time
from importlib.machinery import PathFinder
changed, added, model, text = json.loads(sys.argv[1])

class Finder:
    def find_spec(name, path=None, target=None):
        if name in changed:
            return importlib.util.spec_from_file_location(name, changed[name])
        spec = PathFinder.find_spec(name, path, target)
        if name in added:
            spec.submodule_search_locations.append(added[name])
        return spec

sys.meta_path.insert(0, Finder)
import sumfit
from sumfit.cli.app import run

def served(body):
    from starlette.testclient import TestClient
    from sumfit.serving.app import create_app
    app = create_app(sumfit.Summarizer.from_pretrained(model, n_workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.05)
        return client.post("/v1/summarize", json=body).json(), client.get("/v1/model").json()
"""


def blocks(title: str) -> list[str]:
    """The code blocks of a section."""
    section = GUIDE[GUIDE.index(f"### {title}\n") :]
    section = re.split(r"^#+ ", section, flags=re.MULTILINE)[1]
    return re.findall(r"^```\w*\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)


def outcome(
    program: str,
    model: Path,
    *,
    changed: dict[str, Path] | None = None,
    added: dict[str, Path] | None = None,
) -> list[str]:
    """Run a program in the changed package; its lines."""
    given = [
        {name: str(path) for name, path in (changed or {}).items()},
        {name: str(path) for name, path in (added or {}).items()},
        str(model),
        TEXTS[0],
    ]
    done = subprocess.run(
        [sys.executable, "-c", START + program, json.dumps(given)],
        capture_output=True,
        text=True,
        check=False,
        timeout=570,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), "SUMFIT_QUIET": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def needs_a_server() -> None:
    for extra in ("fastapi", "httpx"):
        if find_spec(extra) is None:
            pytest.skip(f"{extra} is not installed")


def test_a_unit_is_one_module_and_one_row(tiny_model: Path, tmp_path: Path) -> None:
    needs_a_server()
    module, row = blocks("A unit")
    (tmp_path / "letters.py").write_text(module, encoding="utf-8")
    lines = outcome(
        """
short = sumfit.Summarizer.from_pretrained(model, n_workers=1)(text, max_letters=24, rerank=None)
print(json.dumps([short.text, short.length]))
short = sumfit.Summarizer.from_pretrained(model, n_workers=1)(text, max_length=24, unit="letters")
print(json.dumps([short.text, short.length, short.limit, short.unit]))
print(run(["text", text, "--model", model, "--max-letters", "24", "--config", "none"]))
reply, facts = served({"text": text, "max_letters": 24})
print(json.dumps([reply["text"], reply["length"], reply["unit"]]))
print(json.dumps([facts["units"]["letters"], facts["unit_display"]["letters"]["plural"]]))
unit = sumfit.length.get_unit("letters")
print(f"| `{unit}` | {unit.description} | `max_{unit}` |")
""",
        tiny_model,
        added={"sumfit.length.units": tmp_path},
    )
    text, length = json.loads(lines[0])
    assert length == sum(map(str.isalpha, text))
    assert 12 < length <= 24 < len(text)  # spaces are free
    again, *facts = json.loads(lines[1])
    assert facts == [sum(map(str.isalpha, again)), 24, "letters"]
    assert lines[2:4] == [again, "0"]
    assert json.loads(lines[4]) == [again, facts[0], "letters"]
    assert json.loads(lines[5]) == ["letters of any script", "letters"]
    assert lines[6] == row.strip()
    assert "letters" not in UNITS  # nor is anything of it left


def test_an_option_is_one_declaration_and_its_use(tiny_model: Path, tmp_path: Path) -> None:
    needs_a_server()
    declaration, use = blocks("An option")

    def written(module: Any, before: str, more: str) -> Path:
        path = tmp_path / Path(str(module.__file__)).name
        source = Path(str(module.__file__)).read_text(encoding="utf-8")
        place = source.index(before)
        path.write_text(source[:place] + more + source[place:], encoding="utf-8")
        return path

    lines = outcome(
        """
fit = sumfit.Summarizer.from_pretrained(model, n_workers=1)
plain = fit(text, max_chars=40)
short = fit(text, max_chars=40, shout=True)
print(json.dumps([plain.text, short.text]))
try:
    fit(text, max_chars=40, shout="x")
except sumfit.SumfitError as error:
    print(error)
print(run(["text", text, "--model", model, "--max-chars", "40", "--shout", "--config", "none"]))
reply, facts = served({"text": text, "max_chars": 40, "shout": True})
print(json.dumps([reply["text"], facts["defaults"]["shout"]]))
""",
        tiny_model,
        changed={
            "sumfit.options": written(options, "    banned: tuple", declaration),
            "sumfit.pipeline.search": written(search, "        if self.case is None:\n", use),
        },
    )
    plain, short = json.loads(lines[0])
    assert plain.upper() != plain
    assert short.isupper()
    assert lines[1] == "shout must be True or False, was 'x'"
    assert lines[2:4] == [short, "0"]
    assert json.loads(lines[4]) == [short, False]
    assert "shout" not in options.OPTIONS
