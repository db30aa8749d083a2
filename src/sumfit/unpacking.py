"""Unpack files in bounded memory and time, whatever they say of themselves.

Owns ``.xz`` and ``.npz`` up to a number of bytes, and JSON objects up to one. Does not own what the
bytes mean, nor which error a caller makes of a `ValueError` here. Nothing is unpickled.
"""

from __future__ import annotations

import io
import json
import lzma
import math
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["packed_size", "read_arrays", "read_object", "read_up_to", "xz_blocks"]

_BLOCK = 1 << 18
_XZ_MEMORY = 1 << 27  # the largest preset asks for 65 MiB; a file may ask for 4 GiB


def read_up_to(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file that must not be longer than expected.

    Args:
        path: The file.
        most: Bytes that it may have.

    Returns:
        Its bytes.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is longer.
    """
    with Path(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"longer than {most:,} bytes")
    return data


def read_object(path: str | os.PathLike[str], most: int = 1 << 22) -> dict[str, Any]:
    """Read a JSON file that holds one object.

    Args:
        path: The file, in UTF-8.
        most: Bytes that it may have.

    Returns:
        The object.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is longer, is not JSON, nests too deeply, has a number of too many digits,
            or holds something else.
    """
    try:
        value = json.loads(read_up_to(path, most).decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError(f"holds no JSON object but a {type(value).__name__}")
    return value


def xz_blocks(path: str | os.PathLike[str], most: int) -> Iterator[bytes]:
    """Unpack an ``.xz`` file bit by bit, so that a caller can stop at the first bad byte.

    Args:
        path: The file.
        most: Bytes that it may unpack to.

    Yields:
        The content, in blocks of at most 256 KiB.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is damaged, breaks off or unpacks to more.
    """
    n_bytes = 0
    with Path(path).open("rb") as file:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        try:
            while not unpacker.eof:
                packed = file.read(_BLOCK) if unpacker.needs_input else b""
                if unpacker.needs_input and not packed:
                    raise ValueError("it breaks off")
                block = unpacker.decompress(packed, _BLOCK)
                n_bytes += len(block)
                if n_bytes > most:
                    raise ValueError(f"unpacks to more than {most:,} bytes")
                yield block
        except lzma.LZMAError as error:
            raise ValueError(str(error)) from error
        if unpacker.unused_data or file.read(1):
            raise ValueError("there is more behind its end")


def read_arrays(path: str | os.PathLike[str], names: Iterable[str], most: int) -> dict[str, Any]:
    """Read arrays of numbers from an ``.npz`` file.

    Args:
        path: The file.
        names: The arrays to read; others are left alone.
        most: Bytes that they may unpack to, all together.

    Returns:
        The arrays by name.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is damaged, lacks an array, holds Python objects or unpacks to more.
    """
    try:
        with zipfile.ZipFile(path) as file:
            infos = {name: file.getinfo(f"{name}.npy") for name in names}
            if sum(info.file_size for info in infos.values()) > most:
                raise ValueError(f"unpacks to more than {most:,} bytes")
            # A member never yields more than the size it states.
            return {name: _array(file.read(info)) for name, info in infos.items()}
    except KeyError as error:
        raise ValueError(str(error.args[0])) from error
    except (OSError, ValueError):
        raise
    except Exception as error:  # of zipfile, zlib, bz2 and lzma, each with classes of its own
        raise ValueError(str(error)) from error


def packed_size(path: str | os.PathLike[str], most: int) -> int | None:
    """Say how many bytes a packed file holds.

    Args:
        path: The file.
        most: Bytes that it may unpack to.

    Returns:
        The number; ``None`` for a file that is not packed.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is damaged or unpacks to more.
    """
    suffix = Path(path).suffix
    if suffix == ".xz":
        return sum(map(len, xz_blocks(path, most)))
    if suffix != ".npz":
        return None
    try:
        with zipfile.ZipFile(path) as file:
            total = sum(info.file_size for info in file.infolist())
    except zipfile.BadZipFile as error:
        raise ValueError(str(error)) from error
    if total > most:
        raise ValueError(f"unpacks to more than {most:,} bytes")
    return total


def _array(data: bytes) -> Any:
    """The array of a ``.npy`` member; its header must state as many bytes as there are."""
    import numpy as np  # only here: the command line starts without it

    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version} of the format of arrays is unknown")
    shape, is_fortran, dtype = readers[version](stream)
    start = stream.tell()
    if dtype.hasobject:
        raise ValueError("holds Python objects, which are never read")
    if math.prod(shape) * dtype.itemsize != len(data) - start:
        raise ValueError("an array states another size than it has")
    values = np.frombuffer(data, dtype, offset=start)
    return values.reshape(shape, order="F" if is_fortran else "C")
