"""The file that a stream of results is written to, whole or not at all, or standard output.

Owns opening it. Does not own what is written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from sumfit.errors import ConfigError, DataFormatError
from sumfit.text.printable import one_line
from sumfit.writing import flush_to_disk, naming, replace_file

__all__ = ["open_output"]


@contextmanager
def open_output(path: str | None, *, overwrite: bool = False) -> Iterator[TextIO]:
    r"""Open the file to write, UTF-8 with ``\n`` line ends, or hand out standard output.

    The file appears when all is written. Until then, and after an error, what is written is in
    ``FILE.part`` beside it.

    Args:
        path: File; ``None`` or ``-`` for standard output. A device or a pipe is written as it is.
        overwrite: Replace a file that is there.

    Yields:
        The stream.

    Raises:
        ConfigError: If the file is there and may not be replaced.
        DataFormatError: If the file cannot be written.
    """
    if path is None or path == "-":
        yield sys.stdout
        return
    target = Path(os.path.realpath(path))
    is_whole = target.is_file() or not target.exists()
    if is_whole and target.exists() and not overwrite:
        raise ConfigError(
            f"output {path} exists; add --overwrite to replace it, or give another name"
        )
    part = target.with_name(f"{target.name}.part") if is_whole else target
    try:
        stream = part.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise DataFormatError(f"cannot write {path}: {error.strerror or error}") from error
    if not is_whole:
        with naming(path), stream:
            yield stream
        return
    try:
        with naming(path), stream:
            yield stream
            flush_to_disk(stream)
        replace_file(part, target)
    except BaseException:
        _say_what_is_left(part)
        raise


def _say_what_is_left(part: Path) -> None:
    with suppress(OSError):
        if part.stat().st_size:
            sys.stderr.write(f"what was done so far is in {one_line(str(part))}\n")
        else:
            part.unlink()
