"""A real repository of git, apart from whatever this machine has configured."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import sumfit as sumfit

Outcome = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Place:
    """A working tree and the environment that its commands run in."""

    root: Path
    environment: dict[str, str]

    def run(self, *command: str, stdin: str = "", **changes: str) -> Outcome:
        """Run a command in the tree."""
        return subprocess.run(
            command,
            cwd=self.root,
            env={**self.environment, **changes},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def git(self, *arguments: str, stdin: str = "", **changes: str) -> Outcome:
        """Run git, which is to succeed."""
        done = self.run("git", *arguments, stdin=stdin, **changes)
        assert done.returncode == 0, done.stderr
        return done

    def sumfit(self, *arguments: str, stdin: str = "") -> Outcome:
        """Run the command line."""
        return self.run(sys.executable, "-m", "sumfit", *arguments, stdin=stdin)

    def message(self) -> str:
        """The message of the last commit."""
        return self.git("log", "-1", "--format=%B").stdout.strip()


@pytest.fixture
def outside(tmp_path: Path, tiny_model: Path) -> Place:
    """A folder that is in no repository."""
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
        "XDG_CONFIG_HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        "GIT_EDITOR": "true",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }
    root = tmp_path / "a folder"
    root.mkdir()
    return Place(root, environment)


@pytest.fixture
def place(outside: Place) -> Place:
    """A new repository."""
    outside.git("init", "-q", "-b", "main")
    return outside
