"""Questions to git, asked through its command.

Owns how git is called and what is said where it is missing or there is no repository. Does not own
what is done with the answers.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sumfit.errors import ConfigError, ServiceError

__all__ = ["Repository"]

_SCISSORS = " ------------------------ >8 ------------------------"
_MOST_BYTES = 400_000  # of a difference: more than the model reads of any
_IN_A_SEQUENCE = ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_HEAD")


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree of git.

    Attributes:
        place: A folder inside it.
    """

    place: Path

    @classmethod
    def at(cls, place: Path) -> Repository:
        """Find the repository that a folder belongs to.

        Args:
            place: Any folder.

        Returns:
            The repository.

        Raises:
            ConfigError: If the folder is in no repository, or git is not installed.
        """
        found = _git(place, "rev-parse", "--git-dir")
        if found.returncode != 0:
            said = _first_line(found.stderr).removeprefix("fatal: ")
            raise ConfigError(
                f"a git repository is needed, {str(place)!r} is in none that git can use ({said}); "
                "change to a folder of the repository and run the command there"
            )
        return cls(place)

    @property
    def hooks(self) -> Path:
        """The folder where git looks for hooks, ``core.hooksPath`` included."""
        return self._path("hooks")

    @property
    def shares_hooks(self) -> bool:
        """Whether the folder of hooks lies outside this repository and may serve others too."""
        common = self._answer("rev-parse", "--git-common-dir")
        homes = [self.place / common]
        if (top := self._answer("rev-parse", "--show-toplevel", is_needed=False)) != "":
            homes.append(Path(top))
        hooks = self.hooks.resolve()
        return not any(hooks.is_relative_to(home.resolve()) for home in homes)

    @property
    def is_in_sequence(self) -> bool:
        """Whether a rebase, cherry-pick, revert or merge is going on, which brings messages."""
        return any(self._path(name).exists() for name in _IN_A_SEQUENCE)

    @property
    def cleanup(self) -> str:
        """How git cleans messages (``commit.cleanup``)."""
        return self._answer("config", "--get", "commit.cleanup", is_needed=False) or "default"

    def without_comments(self, message: str, *, keeps_comments: bool = False) -> str:
        """A message as git will take it: without comments and what stands below the scissors.

        Args:
            message: Text of a message file.
            keeps_comments: Lines that begin with the comment mark are text, as they are where no
                editor was opened.

        Returns:
            The message.

        Raises:
            ServiceError: If git fails.
        """
        lines = message.split("\n")
        # The comment mark is the user's choice and may be several characters.
        cut = next((n for n, line in enumerate(lines) if line.endswith(_SCISSORS)), len(lines))
        arguments = ["stripspace"] if keeps_comments else ["stripspace", "--strip-comments"]
        return self._answer(*arguments, stdin="\n".join(lines[:cut]) + "\n")

    def as_comment(self, text: str) -> str:
        """A text as comment lines of a message.

        Args:
            text: The text.

        Returns:
            The lines, each with git's comment mark.

        Raises:
            ServiceError: If git fails.
        """
        return self._answer("stripspace", "--comment-lines", stdin=text)

    def staged(self) -> str:
        """What is about to be committed, as a patch.

        Returns:
            The patch, at most its first 400,000 bytes; empty if nothing is staged.

        Raises:
            ServiceError: If git fails.
        """
        command = ["git", "diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv"]
        with subprocess.Popen(
            command, cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            patch = process.stdout.read(_MOST_BYTES)
            is_cut = len(patch) == _MOST_BYTES
            if is_cut:
                process.kill()  # whatever the size of the change, no more of it is held
        if process.returncode != 0 and not is_cut:
            raise ServiceError(f"git diff failed with exit code {process.returncode}")
        return patch.decode("utf-8", errors="replace")

    def _path(self, name: str) -> Path:
        return self.place / self._answer("rev-parse", "--git-path", name)

    def _answer(self, *arguments: str, stdin: str = "", is_needed: bool = True) -> str:
        done = _git(self.place, *arguments, stdin=stdin)
        if done.returncode != 0:
            if not is_needed:
                return ""
            raise ServiceError(f"git {arguments[0]} failed: {_first_line(done.stderr)}")
        return done.stdout.removesuffix("\n")


def _git(place: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=place,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    except FileNotFoundError as error:
        raise ConfigError("git is needed and was not found; install it, or mend PATH") from error


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
