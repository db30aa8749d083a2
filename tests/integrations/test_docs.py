"""The page about other programs names what there is."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from sumfit import Summarizer
from sumfit.cli.app import load_command
from sumfit.cli.commands import COMMANDS
from sumfit.runtime import default_model_path
from tests.tiny_model import TEXTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def test_commands_and_their_options_exist() -> None:
    lines = [line for text in blocks("sh") for line in text.splitlines()]
    ours = [shlex.split(line) for line in lines if line.startswith("sumfit ")]
    assert len(ours) >= 2
    for _, name, *rest in ours:
        command = load_command(name)
        if hasattr(command, "commands"):
            command = command.commands[rest[0]]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= known


def test_configurations_name_what_there_is() -> None:
    hooks, workflow = map(yaml.safe_load, blocks("yaml"))
    (manifest,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert hooks["repos"][0]["hooks"][0]["id"] == manifest["id"]
    (step,) = workflow["jobs"]["title"]["steps"]
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert step["with"].keys() <= action["inputs"].keys()
    (agents,) = map(json.loads, blocks("json"))
    entry = agents["mcpServers"]["sumfit"]
    assert entry["command"] == "sumfit"
    assert entry["args"][0] in COMMANDS


@pytest.mark.skipif(
    not (default_model_path() / "config.json").is_file(),
    reason="this checkout has no embedded model",
)
def test_the_python_examples_run() -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    chain, column, _ = blocks("python")
    names: dict[str, object] = {}
    exec(compile(chain, "docs/integrations.md", "exec"), names)
    (title,) = names["titles"].batch([TEXTS[0]])  # type: ignore[attr-defined]
    assert 0 < len(title) <= 60
    exec(compile(column, "docs/integrations.md", "exec"), names)
    found = names["titles"](pandas.DataFrame({"body": TEXTS[:2]}))  # type: ignore[operator]
    assert [0 < len(text) <= 60 for text in found] == [True, True]


@pytest.mark.filterwarnings("ignore:::spacy")
@pytest.mark.filterwarnings("ignore:::thinc")
def test_the_component_of_spacy_runs(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spacy = pytest.importorskip("spacy", reason="spacy is not installed")
    fit = Summarizer.from_pretrained(tiny_model)
    monkeypatch.setattr(Summarizer, "from_pretrained", lambda: fit)
    (*_, component) = blocks("python")
    assert "spacy" in component
    exec(compile(component, "docs/integrations.md", "exec"), {})
    pipeline = spacy.blank("en")
    pipeline.add_pipe("title")
    titles = [doc._.title for doc in pipeline.pipe(TEXTS[:2])]
    assert titles == [fit(text, max_chars=60).text for text in TEXTS[:2]]
