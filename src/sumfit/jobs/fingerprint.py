"""What decides the content of a job's parts, and how two jobs differ, in words.

Owns the comparison. Does not own where a fingerprint is kept (`sumfit.jobs.parts`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sumfit.errors import Phrase, given

__all__ = ["JOB_FORMAT", "content_digest", "differences"]

JOB_FORMAT = "sumfit-job-4"

_BLOCK = 1 << 20
_CONTENT = ("input_bytes", "input_sha256")
_MODEL = ("model", "model_sha256")
_SHOWN = {
    "version": "sumfit's version",
    "input_format": "the input's format",
    "field": "--field",
    "limit_field": "--limit-field",
    "delimiter": "--delimiter",
    "encoding": "--encoding",
    "chunk_size": "the size of a part",
}


def content_digest(path: Path) -> str:
    """The SHA-256 of a file.

    Args:
        path: The file.

    Returns:
        In hexadecimal.
    """
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            sha.update(block)
    return sha.hexdigest()


def differences(before: object, now: Mapping[str, Any]) -> list[Phrase]:
    """Say how a job differs from the one that was begun.

    Args:
        before: The fingerprint that was kept, as it was read.
        now: That of the job at hand.

    Returns:
        What differs, in words; nothing where one can go on with the other's parts.
    """
    if not isinstance(before, Mapping) or before.get("format") != now["format"]:
        return ["it was begun by another version of sumfit"]
    return list(_differences(before, now))


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Phrase]:
    if any(before.get(name) != now[name] for name in _CONTENT):
        sizes = [before.get("input_bytes"), now["input_bytes"]]
        how = "other bytes" if sizes[0] == sizes[1] else f"{sizes[1]} bytes, {sizes[0]} before"
        yield f"the input has changed since ({how})"
    if any(before.get(name) != now[name] for name in _MODEL):
        yield f"the model is another (now {now['model']!r}, {before.get('model')!r} before)"
    for name, shown in _SHOWN.items():
        if before.get(name) != now[name]:
            yield f"{shown} is {now[name]!r}, was {before.get(name)!r}"
    options = before.get("options")
    yield from _options(options if isinstance(options, Mapping) else {}, now["options"])


def _options(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Phrase]:
    for name in sorted({*before, *now}):
        if name not in now:
            yield given(name, before[name]), " is left out now"
        elif name not in before:
            yield given(name, now[name]), " was not given before"
        elif before[name] != now[name]:
            yield given(name, now[name]), f" was {before[name]!r} before"
