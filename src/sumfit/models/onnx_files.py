"""Whether an ONNX file names other files: a network is one file, and reads no other.

ONNX lets a tensor state a path where its numbers are. A hostile file names any file of the machine
there, and the runtime reads it. This walks through the messages of the file, without their numbers,
and refuses such a tensor. It needs no package, and accepts less than protobuf does.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

from sumfit.errors import ModelFormatError

__all__ = ["check_self_contained"]

# Fields that hold messages, by kind of message (onnx.proto).
_PARTS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse",
    },
    "sparse": {1: "tensor", 2: "tensor"},
    "function": {7: "node", 11: "attribute"},
    "training": {1: "graph", 2: "graph"},
    "tensor": {},
}  # fmt: skip
_EXTERNAL = 13  # of a tensor: where in another file its numbers are
_MOST_DEEP = 64
_WIDTHS = {1: 8, 5: 4}  # bytes of numbers of fixed width, by wire type


def check_self_contained(path: str | os.PathLike[str], *, remedy: str) -> None:
    """Raise unless a network holds its own weights.

    Args:
        path: An ONNX file.
        remedy: What to do about a file that is refused.

    Raises:
        ModelFormatError: If a tensor names another file, or the file is no ONNX file.
        OSError: If it cannot be read.
    """
    name = os.fspath(path)
    try:
        with (
            Path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            _walk(data, 0, len(data), "model", 0)
    except (IndexError, ValueError) as error:
        raise ModelFormatError(f"{name} does not load as a network ({error}); {remedy}") from error


def _walk(data: mmap.mmap, start: int, end: int, kind: str, depth: int) -> None:
    if depth > _MOST_DEEP:
        raise ValueError("nested too deeply")
    parts = _PARTS[kind]
    for field, first, last in _fields(data, start, end):
        if kind == "tensor" and field == _EXTERNAL:
            raise ValueError("its numbers are in another file, and a network is one file")
        if field in parts:
            _walk(data, first, last, parts[field], depth + 1)


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number and extent of the fields of a message that have a length or are numbers."""
    at = start
    while at < end:
        tag, at = _varint(data, at)
        field, wire = tag >> 3, tag & 7
        if not 0 < field < 1 << 29:
            raise ValueError("damaged: a field has no number")
        first = at
        if wire == 0:
            _, at = _varint(data, at)
        elif wire == 2:
            size, first = _varint(data, at)
            at = first + size
        elif wire in _WIDTHS:
            at += _WIDTHS[wire]
        else:
            raise ValueError(f"damaged: a field of type {wire}")
        if at > end:
            raise ValueError("damaged: it breaks off")
        yield field, first, at


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("damaged: a number without an end")
