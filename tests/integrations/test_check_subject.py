"""The check of a subject: by itself, under pre-commit, and in the action for pull requests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sumfit import Summarizer
from tests.cli.conftest import Sumfit
from tests.integrations.conftest import Outcome, Place
from tests.tiny_model import TEXTS

ROOT = Path(__file__).resolve().parents[2]
LONG = "Close the old bridge after an inspection found cracks in its supports"
SAID = f"the subject has {len(LONG)} characters, at most 50 were asked for."
TOLD = f"error: {SAID}\nThis one fits:\n"


@pytest.mark.parametrize(
    "message",
    ["Close the bridge", f"Close the bridge\n\n{LONG * 3}", "", "\n", f"fixup! {LONG}", "é" * 50],
)
def test_what_fits_passes(sumfit: Sumfit, message: str) -> None:
    assert sumfit("check-subject", stdin=message.encode()) == (0, "", "")


def test_what_does_not_fit_is_refused_and_another_proposed(sumfit: Sumfit, fit: Summarizer) -> None:
    proposal = fit(f"{LONG}\n\n{TEXTS[0]}", preset="git-subject").text
    found = sumfit("check-subject", "-", stdin=f"{LONG}\n\n{TEXTS[0]}\n".encode())
    assert found == (1, f"{proposal}\n", TOLD)
    assert len(proposal) <= 50
    assert sumfit("check-subject", "--max-chars", "72", stdin=LONG.encode()).code == 0


def test_a_title_that_begins_like_a_comment_or_a_merge_is_a_title(sumfit: Sumfit) -> None:
    assert sumfit("check-subject", stdin=f"# {LONG}".encode()).code == 1
    assert sumfit("check-subject", stdin=f"Merge {LONG}".encode()).code == 1


def test_where_nothing_can_be_proposed(sumfit: Sumfit) -> None:
    found = sumfit("check-subject", stdin=("— " * 45).encode())
    assert (found.code, found.out) == (1, "")
    assert "no other can be proposed: " in found.err


def test_wrong_calls(sumfit: Sumfit, tmp_path: Path) -> None:
    found = sumfit("check-subject", "--max-chars", "0", stdin=b"x")
    assert found.code == 2
    assert "--max-chars must be a whole number from 1" in found.err
    missing = tmp_path / "nothing"
    found = sumfit("check-subject", str(missing))
    assert found.code == 1
    assert str(missing) in found.err
    missing.write_bytes(b"caf\xe9")
    assert "is not UTF-8 at byte 3" in sumfit("check-subject", str(missing)).err


def test_a_message_file_is_read_as_git_reads_it(place: Place) -> None:
    file = place.root / "MESSAGE"
    file.write_text(f"# {LONG}\nClose the bridge\n# more\n")
    assert place.sumfit("check-subject", "MESSAGE").returncode == 0


@pytest.fixture
def hooked(place: Place) -> Place:
    """A repository that uses this one's hook through the real pre-commit."""
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    hooks = place.root.parent / "hooks"
    hooks.mkdir()
    manifest = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (hooks / ".pre-commit-hooks.yaml").write_text(manifest, encoding="utf-8")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Hooks"), ("tag", "v1")):
        place.git("-C", str(hooks), *command)
    # Nothing is installed anew: the command is the one on the path.
    hook = {"id": "sumfit-subject", "language": "system", "args": ["--max-chars", "50"]}
    chosen = {"repos": [{"repo": str(hooks), "rev": "v1", "hooks": [hook]}]}
    (place.root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(chosen), encoding="utf-8")
    place.git("add", ".")
    install = ("install", "--hook-type", "commit-msg")
    done = place.run(sys.executable, "-m", "pre_commit", *install)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def test_pre_commit_takes_the_manifest() -> None:
    pytest.importorskip("pre_commit", reason="pre-commit is not installed")
    command = [sys.executable, "-m", "pre_commit", "validate-manifest"]
    done = subprocess.run(
        [*command, str(ROOT / ".pre-commit-hooks.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_under_pre_commit_a_long_subject_stops_the_commit(hooked: Place, fit: Summarizer) -> None:
    done = hooked.run("git", "commit", "-m", LONG)
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert SAID in said
    assert f"This one fits:\n{fit(LONG, preset='git-subject').text}\n" in said
    assert hooked.run("git", "log").returncode != 0  # there is no commit
    hooked.git("commit", "-m", "Close the bridge", "-m", LONG)
    assert hooked.message() == f"Close the bridge\n\n{LONG}"


ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
(CHECK,) = [step for step in STEPS if "check-subject" in step.get("run", "")]


def inputs(text: str, given: dict[str, str]) -> str:
    """Fill in expressions as a runner does."""

    def value(found: re.Match[str]) -> str:
        scope, _, name = found.group(1).partition(".")
        assert scope == "inputs"
        return given[name]

    return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", value, text)


def act(place: Place, **given: str) -> tuple[Outcome, str]:
    """Run the action's check as a runner does: its shell, its environment, its outputs."""
    filled = {"max-chars": "50", "title": LONG, "body": TEXTS[0], **given}
    assert filled.keys() == ACTION["inputs"].keys()
    environment = {name: inputs(text, filled) for name, text in CHECK["env"].items()}
    code = place.root.parent / "step.sh"
    code.write_text(CHECK["run"], encoding="utf-8")
    outputs = place.root.parent / "outputs"
    outputs.touch()
    shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
    done = place.run(*shell, str(code), **environment, GITHUB_OUTPUT=str(outputs))
    return done, outputs.read_text(encoding="utf-8")


def test_the_action_is_a_composite_one_whose_scripts_hold_no_expressions() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for name in ("name", "description"):
        assert ACTION[name]
    for step in STEPS:
        assert ("run" in step) != ("uses" in step)
        if "run" in step:
            assert step["shell"] == "bash"
            assert "${{" not in step["run"]  # a title is data: never part of a script
            parsed = subprocess.run(["bash", "-n"], input=step["run"], text=True, check=False)
            assert parsed.returncode == 0
    defaults = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}
    assert defaults["title"] == "${{ github.event.pull_request.title }}"
    assert defaults["body"] == "${{ github.event.pull_request.body }}"
    assert ACTION["outputs"]["proposal"]["value"] == "${{ steps.check.outputs.proposal }}"
    assert CHECK["id"] == "check"


def test_a_title_that_fits_passes(outside: Place) -> None:
    done, outputs = act(outside, title="Close the old bridge")
    assert (done.returncode, done.stdout, outputs) == (0, "", "")


def test_a_title_over_the_limit_fails_with_a_proposal(outside: Place, fit: Summarizer) -> None:
    done, outputs = act(outside)
    proposal = fit(f"{LONG}\n\n{TEXTS[0]}", preset="git-subject").text
    assert done.returncode == 1
    assert outputs == f"proposal={proposal}\n"
    assert done.stdout == f"::error title=The title is too long::This one fits: {proposal}\n"
    assert done.stderr == TOLD


@pytest.mark.parametrize("title", ['$(touch x) `touch x` "; touch x #' + "x" * 50, "%0A::x" * 20])
def test_a_title_is_never_run_nor_read_as_a_command(outside: Place, title: str) -> None:
    done, outputs = act(outside, title=title)
    assert done.returncode == 1
    assert list(outside.root.iterdir()) == []
    assert len(done.stdout.splitlines()) == 1
    assert outputs.count("\n") <= 1
    assert "::" not in done.stdout.split("::", 2)[2]


def test_a_wrong_limit_is_named(outside: Place) -> None:
    done, outputs = act(outside, **{"max-chars": "many"})
    assert done.returncode == 2
    assert "--max-chars: " in done.stderr
    assert outputs == ""
