"""Write files so that they appear whole or not at all, and errors name them.

Owns the file's name in an `OSError`, which Python leaves out when a disk is full, and replacing a
file: links stay links, permissions stay, and what was replaced is on the disk itself, so that a
power cut finds the old file or the new one. Does not own what the command line prints
(`sumfit.cli.app`).
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = [
    "flush_to_disk",
    "is_full",
    "naming",
    "replace_file",
    "sync_folder",
    "write_arrays",
    "write_whole",
]

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Give errors the name of what is written where they have none.

    Args:
        path: File or directory that is written in the meantime.

    Yields:
        Nothing.

    Raises:
        OSError: What was raised, its ``filename`` set.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside its place and move it there; what stood there stays if writing fails.

    Args:
        path: File to write; one that is no regular file, such as a device, is written as it is.
        content: Its bytes.

    Raises:
        OSError: If writing fails; ``filename`` is ``path``.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with naming(path):
            target.write_bytes(content)
        return
    part = target.with_name(f".{target.name}.{os.getpid()}")  # processes may write it at once
    try:
        with part.open("wb") as file:
            file.write(content)
            flush_to_disk(file)
        replace_file(part, target)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        error.filename, error.filename2 = os.fspath(path), None
        raise


def replace_file(part: Path, target: Path) -> None:
    """Move a complete file, flushed to the disk, into its place, for good.

    Args:
        part: The file.
        target: Its place, in the same file system; no link. A file that is there is replaced, and
            gives its permissions, and its owner where that is allowed.

    Raises:
        OSError: If it cannot be moved.
    """
    with suppress(FileNotFoundError):
        before = target.stat()
        part.chmod(stat.S_IMODE(before.st_mode))
        with suppress(OSError, AttributeError):  # not our file's owner to choose; Windows
            os.chown(part, before.st_uid, before.st_gid)
    part.replace(target)
    sync_folder(target.parent)


def flush_to_disk(file: IO[Any]) -> None:
    """Write a file's buffers to the disk itself.

    Args:
        file: An open file.
    """
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk itself, so that a rename outlives a power cut.

    Args:
        folder: The folder. Where folders cannot be opened, as on Windows, nothing is done.
    """
    if sys.platform == "win32":
        return
    with suppress(OSError):  # some network file systems refuse it
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Write an ``.npz`` file as `write_whole` does.

    Args:
        path: File to write.
        arrays: What it holds, by name.

    Raises:
        OSError: If writing fails; ``filename`` is ``path``.
    """
    import numpy as np  # only here: the command line starts without it

    content = io.BytesIO()
    np.savez(content, **arrays)
    write_whole(path, content.getvalue())


def is_full(error: OSError) -> bool:
    """Say whether an error is that of a full disk, or of a quota that is used up.

    Args:
        error: The error.

    Returns:
        Whether it is.
    """
    return error.errno in _FULL
