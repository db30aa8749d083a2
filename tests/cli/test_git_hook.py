"""The commit hook of the documentation, run as it stands there in a git repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sumfit import Summarizer
from tests.tiny_model import TEXTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "drop-ins.md"
Outcome = subprocess.CompletedProcess[str]
Commit = Callable[..., Outcome]


@pytest.fixture
def commit(tiny_model: Path, tmp_path: Path) -> Commit:
    """Commit a message in a new repository that has the hook."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "sumfit"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sumfit "$@"\n')
    command.chmod(0o755)
    given = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {
        **given,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SUMFIT_MODEL": str(tiny_model),
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    place = tmp_path / "repository"

    def git(*arguments: str, stdin: str = "", editor: str = "true") -> Outcome:
        return subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments],
            cwd=place if place.exists() else tmp_path,
            env={**environment, "GIT_EDITOR": editor},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
        )

    assert git("init", "-q", str(place)).returncode == 0
    (code,) = re.findall(r"```sh\n(#!/bin/sh.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    hook = place / ".git" / "hooks" / "commit-msg"
    hook.write_text(code)
    hook.chmod(0o755)
    return git


def message(git: Commit) -> str:
    return git("log", "-1", "--format=%B").stdout.strip()


def test_a_body_gets_a_subject_that_fits(commit: Commit, fit: Summarizer) -> None:
    body = TEXTS[0].replace(" ", "\n", 6)
    done = commit("commit", "--allow-empty", "-F", "-", stdin=body)
    assert done.returncode == 0, done.stderr
    subject, blank, *rest = message(commit).split("\n")
    assert (blank, "\n".join(rest)) == ("", body)
    assert subject == fit(body, preset="git-subject").text
    assert 0 < len(subject) <= 50
    assert subject in done.stdout  # git says what it committed


def test_what_is_written_in_an_editor_gets_one_too(commit: Commit, tmp_path: Path) -> None:
    written = tmp_path / "written"
    written.write_text(f"\n{TEXTS[1]}\n\n# a comment\n# --- >8 ---\ndiff --git a/b c/d\n")
    done = commit("commit", "--allow-empty", "-v", editor=f"cp '{written}'")
    assert done.returncode == 0, done.stderr
    subject, _, *rest = message(commit).split("\n")
    assert 0 < len(subject) <= 50
    assert rest == [TEXTS[1]]


@pytest.mark.parametrize("given", ["Close the socket", "Close the socket\n\nIt was left open."])
def test_a_message_with_a_subject_stays(commit: Commit, given: str) -> None:
    assert commit("commit", "--allow-empty", "-m", given).returncode == 0
    assert message(commit) == given


def test_without_a_body_git_refuses_as_ever(commit: Commit) -> None:
    done = commit("commit", "--allow-empty")
    assert done.returncode == 1
    assert done.stderr == "Aborting commit due to empty commit message.\n"


def test_what_cannot_be_summarised_is_committed_as_it_is(commit: Commit) -> None:
    given = "!" * 80
    done = commit("commit", "--allow-empty", "-m", given)
    assert done.returncode == 0
    assert "error: " in done.stderr
    assert message(commit) == given
