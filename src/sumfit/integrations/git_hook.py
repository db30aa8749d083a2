"""The hook of git that proposes subjects: its script, where it goes, and what it does.

Owns ``prepare-commit-msg``. A message is never refused here, since git offers no way around this
hook, and no word of a message is ever lost. Does not own the model: what proposes is given.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from sumfit.errors import InputError, SumfitError
from sumfit.integrations.commit_message import check_limit, over_limit, parse_message
from sumfit.integrations.git import Repository

__all__ = ["HOOK", "install", "prepare", "script", "uninstall"]

HOOK = "prepare-commit-msg"

_MARK = "# Made by sumfit, checksum "
_NO_EDITOR = ":"  # what git sets GIT_EDITOR to where it opens none
_NOTE = "The subject above is proposed by sumfit: change it, or delete it to write none."
_KEEPS_COMMENTS = ("verbatim", "whitespace", "scissors")


def script(max_chars: int, *, python: str = sys.executable) -> str:
    """The hook as git runs it.

    Args:
        max_chars: Most characters of a subject.
        python: Interpreter that has sumfit; where it is gone, ``sumfit`` of the path is taken.

    Returns:
        A shell script that ends with its own checksum.

    Raises:
        BudgetError: If the limit makes no sense.
    """
    arguments = f'git-hook run --max-chars {check_limit(max_chars)} "$@"'
    quoted = shlex.quote(python)
    lines = f"""#!/bin/sh
# Proposes a subject for a commit; "sumfit git-hook uninstall" takes this file away.
if [ -x {quoted} ]; then
    {quoted} -m sumfit {arguments}
else
    sumfit {arguments}
fi
exit 0 # no proposal is worth a commit that fails
"""
    return f"{lines}{_MARK}{_checksum(lines)}\n"


def install(repository: Repository, max_chars: int) -> Path:
    """Put the hook into a repository; one of sumfit's own is renewed.

    Args:
        repository: Where.
        max_chars: Most characters of a subject.

    Returns:
        The file of the hook.

    Raises:
        InputError: If there is a hook that is not as sumfit made it.
        BudgetError: If the limit makes no sense.
        OSError: If the file cannot be written.
    """
    text = script(max_chars)
    path = repository.hooks / HOOK
    if os.path.lexists(path) and not _is_ours(path):
        raise InputError(
            f"there is a hook already, {str(path)!r}, that sumfit did not make or that was "
            f"changed since; nothing was written. To use both, add to it the line: "
            f'sumfit git-hook run --max-chars {max_chars} "$@"'
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{HOOK}-", dir=path.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, 0o755)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return path


def uninstall(repository: Repository) -> Path:
    """Take the hook out of a repository.

    Args:
        repository: Where.

    Returns:
        The file that was removed.

    Raises:
        InputError: If there is no hook, or one that is not as sumfit made it.
        OSError: If the file cannot be removed.
    """
    path = repository.hooks / HOOK
    if not os.path.lexists(path):
        raise InputError(f"there is no hook to remove: {str(path)!r} does not exist")
    if not _is_ours(path):
        raise InputError(
            f"{str(path)!r} is not as sumfit made it, so it stays; remove what is sumfit's by hand"
        )
    path.unlink()
    return path


def prepare(
    file: Path,
    source: str,
    repository: Repository,
    propose: Callable[[str], str],
    max_chars: int,
) -> str:
    """Do what the hook does for one message: write a subject where there is none.

    An empty message that goes to an editor gets a subject from what is staged, and a note. One
    that begins with a paragraph, of several lines or more than 72 characters, gets a subject
    before it. A subject over the limit stays: the answer says so and proposes one. Merges, amended
    and squashed commits, rebases, filled templates and what git itself writes stay as they are.

    Args:
        file: The message's file.
        source: Where the message comes from, as git says: empty, ``message``, ``template``,
            ``merge``, ``squash`` or ``commit``.
        repository: The repository.
        propose: Text to subject; called only where a subject is wanted.
        max_chars: Most characters of a subject.

    Returns:
        What to tell the user; empty for nothing.

    Raises:
        BudgetError: If the limit makes no sense.
        OSError: If the file cannot be read or written.
    """
    check_limit(max_chars)
    if source not in ("", "message", "template") or repository.is_in_sequence:
        return ""
    has_editor = os.environ.get("GIT_EDITOR") != _NO_EDITOR
    written = file.read_bytes().decode("utf-8", errors="surrogateescape")
    try:
        keeps = _keeps_comments(repository.cleanup, has_editor=has_editor)
        message = parse_message(repository.without_comments(written, keeps_comments=keeps))
        if message.subject == "":
            patch = repository.staged() if has_editor else ""
            if not patch.strip():
                return ""
            note = "" if keeps else repository.as_comment(_NOTE) + "\n"
            _rewrite(file, f"{propose(patch)}\n{note}{written}")
            return ""
        fits = message.length <= max_chars
        if fits or message.is_made_by_git or source == "template":
            return ""
        subject = propose(message.text)
        if message.has_subject:
            return f"{over_limit(message, max_chars)} One that fits: {subject}"
        body = written.lstrip("\n")
        _rewrite(file, f"{subject}\n\n{body}")
        return f"the message had no subject, so it got one: {subject}"
    except SumfitError as error:
        return f"no subject is proposed: {error}"


def _keeps_comments(cleanup: str, *, has_editor: bool) -> bool:
    """Whether lines with the comment mark are part of the message."""
    if cleanup == "default":
        return not has_editor
    return cleanup in _KEEPS_COMMENTS


def _rewrite(file: Path, text: str) -> None:
    file.write_bytes(text.encode("utf-8", errors="surrogateescape"))


def _is_ours(path: Path) -> bool:
    """Whether a hook is one that sumfit made, of whatever version, and nobody changed."""
    if path.is_symlink() or not path.is_file():
        return False
    head, mark, checksum = path.read_bytes().decode("utf-8", "replace").rpartition(_MARK)
    return mark != "" and checksum == f"{_checksum(head)}\n"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
