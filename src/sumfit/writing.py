"""Write files so that they appear whole or not at all, and errors name them.

Owns the file's name in an `OSError`, which Python leaves out when a disk is full, and replacing a
file. Does not own what the command line prints (`sumfit.cli.app`).
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

__all__ = ["is_full", "naming", "write_arrays", "write_whole"]

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
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        error.filename, error.filename2 = os.fspath(path), None
        raise


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
