"""The manifest of a model directory: the SHA-256 of every file, checked before a file is used.

Owns ``manifest.json``, writing and checking it, and the rule that a model reads nothing outside its
directory. Does not own what the files mean.

A manifest tells damage: a copy that broke off, a file of another version, a changed byte. It is no
signature: who can write the files can write the manifest too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumfit.errors import ModelFormatError
from sumfit.unpacking import packed_size, read_object
from sumfit.writing import write_whole

__all__ = [
    "MANIFEST",
    "MOST_UNPACKED",
    "ModelFiles",
    "write_manifest",
]

MANIFEST = "manifest.json"
"""Where in its directory a model has the digests of its files."""

MOST_UNPACKED = 1 << 28
"""Bytes that a packed file of a model may hold."""

_FORMAT = "sumfit-manifest-1"
_BLOCK = 1 << 18  # stays in the cache
_MOST_FILES = 1000
_SHA256 = re.compile("[0-9a-f]{64}")
# Forms of the network, of which one is used: each is checked when it is chosen, not on opening.
_NETWORKS = ("model.onnx", "model.fp32.onnx", "model.safetensors")
# Text for people, which may be edited; it is listed, and nothing reads it.
_CARD_SUFFIX = ".md"
_SUFFIXES = (".json", ".onnx", ".safetensors", ".xz", ".npz")


@dataclass(frozen=True, slots=True)
class _Entry:
    """What the manifest says of a file; ``unpacked`` is ``None`` for a file that is not packed."""

    n_bytes: int
    sha256: str
    unpacked: int | None


def write_manifest(directory: str | os.PathLike[str]) -> Path:
    """Write the manifest of all files that stand in a directory now, sub-folders included.

    Args:
        directory: A model directory. Files whose names begin with a dot are left out.

    Returns:
        The manifest.

    Raises:
        ModelFormatError: If it holds a link or another thing that is no plain file, a packed file
            that is damaged, or more than 1,000 files.
        OSError: If a file cannot be read, or the manifest not written.
    """
    base = Path(directory)
    files: dict[str, dict[str, Any]] = {}
    for path in _files_below(base):
        if path.is_symlink() or not path.is_file():
            raise ModelFormatError(
                f"{path} is no plain file, and a model reads nothing outside its directory; copy "
                "the file there, or remove it"
            )
        try:
            unpacked = packed_size(path, MOST_UNPACKED)
        except ValueError as error:
            raise ModelFormatError(f"{path} is damaged ({error}); write it again") from error
        entry = {"bytes": path.stat().st_size, "sha256": _digest(path)}
        if unpacked is not None:
            entry["unpacked_bytes"] = unpacked
        files[path.relative_to(base).as_posix()] = entry
    if len(files) > _MOST_FILES:
        raise ModelFormatError(
            f"{base} holds {len(files)} files, a model at most {_MOST_FILES}; give its directory"
        )
    text = json.dumps({"format": _FORMAT, "files": files}, indent=1, ensure_ascii=False)
    write_whole(base / MANIFEST, text.encode() + b"\n")
    return base / MANIFEST


class ModelFiles:
    """The files of a model directory, each checked against the manifest before it is used.

    Files of a directory without a manifest, as earlier versions wrote them, are used as they are.
    A folder inside a model, such as that of its reranker, is checked against the model's manifest
    where it has none of its own.

    Attributes:
        directory: The directory, as it was given.
    """

    directory: Path

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        """Read the manifest, if there is one.

        Args:
            directory: An existing directory.

        Raises:
            ModelFormatError: If the manifest is damaged.
        """
        self.directory = Path(directory)
        self._base = Path(os.path.realpath(directory))
        self._entries = _entries(self.directory, self._base)
        self._checked: set[str] = set()

    @property
    def has_manifest(self) -> bool:
        """Whether the files are checked at all."""
        return self._entries is not None

    def check(self) -> None:
        """Check every file of the manifest but model cards and networks.

        Which of the networks is used is not known yet; `path` checks the one that is. Of the
        others the sizes are compared here.

        Raises:
            ModelFormatError: If a file is missing, or is not the one that the manifest lists.
        """
        for name, entry in (self._entries or {}).items():
            if name.endswith(_CARD_SUFFIX):
                continue
            if Path(name).name in _NETWORKS:
                self._check_size(name, entry)
            else:
                self.path(name)

    def check_whole(self) -> None:
        """Check every file of the manifest, networks and model cards included.

        Raises:
            ModelFormatError: If there is no manifest, if a file is missing, or is not the one that
                the manifest lists, or if there are files that it does not list.
        """
        if self._entries is None:
            raise ModelFormatError(f"{self.directory} has no {MANIFEST}; {_remedy(self.directory)}")
        for name in self._entries:
            self.path(name)
        for path in _files_below(self._base):
            self.path(path.relative_to(self._base).as_posix())

    def path(self, name: str) -> Path:
        """Find a file and check it.

        Args:
            name: Its path in the directory, with ``/`` between folders.

        Returns:
            Where it is; one that is not there is for the caller to miss, if the manifest does
            not list it.

        Raises:
            ModelFormatError: If it lies outside the directory, is no plain file, or is not the
                one that the manifest lists.
        """
        path = self.directory / name
        if name in self._checked:
            return path
        entry = (self._entries or {}).get(name)
        if entry is None and not os.path.lexists(path):
            return path
        if self._entries is not None and entry is None:
            raise ModelFormatError(
                f"{path} is not in {MANIFEST}, so it was added later; {_remedy(self.directory)}"
            )
        self._check_place(name)
        if entry is not None:
            self._check_size(name, entry)
            if _digest(path) != entry.sha256:
                raise ModelFormatError(
                    f"{path} is not the file that {MANIFEST} lists: its SHA-256 is another; "
                    f"{_remedy(self.directory)}"
                )
        self._checked.add(name)
        return path

    def digest(self) -> str:
        """One number for the content of the model, model cards left out.

        Returns:
            A SHA-256: of the digests that the manifest lists, or, without one, of the files that
            stand in the directory itself.
        """
        if self._entries is not None:
            found = {name: entry.sha256 for name, entry in self._entries.items()}
        else:
            files = (path for path in self.directory.iterdir() if path.suffix in _SUFFIXES)
            found = {path.name: _digest(path) for path in files if path.is_file()}
        lines = [f"{sha256}  {name}" for name, sha256 in sorted(found.items())]
        kept = [line for line in lines if not line.endswith(_CARD_SUFFIX)]
        return hashlib.sha256("\n".join(kept).encode()).hexdigest()

    def folder(self, name: str) -> Path | None:
        """Find a folder inside the directory.

        Args:
            name: Its name.

        Returns:
            Where it is, ``None`` if it is not there.

        Raises:
            ModelFormatError: If it leads outside the directory.
        """
        path = self.directory / name
        if not path.is_dir():
            return None
        self._check_inside(name)
        return path

    def unpacked(self, name: str, most: int) -> int:
        """Say what a packed file may unpack to.

        Args:
            name: The file.
            most: Bytes that are allowed where the manifest states no size.

        Returns:
            The size that the manifest states, at most ``most``.
        """
        entry = (self._entries or {}).get(name)
        return most if entry is None or entry.unpacked is None else min(most, entry.unpacked)

    def _check_size(self, name: str, entry: _Entry) -> None:
        path = self.directory / name
        self._check_place(name)
        n_bytes = path.stat().st_size
        if n_bytes != entry.n_bytes:
            raise ModelFormatError(
                f"{path} has {n_bytes:,} bytes, {MANIFEST} says {entry.n_bytes:,}; "
                f"{_remedy(self.directory)}"
            )

    def _check_place(self, name: str) -> None:
        path = self.directory / name
        if not os.path.lexists(path):
            raise ModelFormatError(
                f"{path} is missing, and {MANIFEST} lists it; {_remedy(self.directory)}"
            )
        self._check_inside(name)
        if not path.is_file():
            raise ModelFormatError(f"{path} is no plain file; copy the model again")

    def _check_inside(self, name: str) -> None:
        real = Path(os.path.realpath(self._base / name))
        if not real.is_relative_to(self._base):
            raise ModelFormatError(
                f"{self.directory / name} leads to {real}, and a model reads nothing outside its "
                "directory; copy the file itself there"
            )


def _entries(shown: Path, base: Path) -> dict[str, _Entry] | None:
    """The entries of a directory's manifest, or of the model's that it is a folder of."""
    own = shown / MANIFEST
    if os.path.lexists(own):
        if not own.is_file() or not Path(os.path.realpath(own)).is_relative_to(base):
            raise ModelFormatError(f"{own} is no plain file; copy the model again")
        try:
            return dict(_parsed(read_object(own)))
        except (OSError, ValueError) as error:
            raise ModelFormatError(
                f"{own} is no manifest of a model ({error}); {_remedy(shown)}"
            ) from error
    try:  # what lies beside a directory may be anybody's
        values = read_object(base.parent / MANIFEST)
        if values.get("format") != _FORMAT:
            return None
        listed = dict(_parsed(values))
    except (OSError, ValueError):
        return None
    prefix = f"{base.name}/"
    inner = {n.removeprefix(prefix): e for n, e in listed.items() if n.startswith(prefix)}
    return inner or None


def _parsed(values: Mapping[str, Any]) -> Iterator[tuple[str, _Entry]]:
    found = values.get("format")
    if found != _FORMAT:
        raise ValueError(f"its format is {found!r}, not {_FORMAT!r}")
    files = values.get("files")
    if not isinstance(files, dict) or not 0 < len(files) <= _MOST_FILES:
        raise ValueError("'files' must be an object with 1 to 1,000 files")
    for name, entry in files.items():
        parts = name.split("/")
        if any(part in ("", ".", "..") or set(part) & {"\\", ":", "\0"} for part in parts):
            raise ValueError(f"{name!r} is no path inside the directory")
        if not isinstance(entry, dict):
            raise ValueError(f"{name!r} is {entry!r:.40}, must be an object")
        digest = entry.get("sha256")
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise ValueError(f"{name!r} has no sha256 of 64 digits")
        unpacked = entry.get("unpacked_bytes")
        yield (
            name,
            _Entry(
                _size(entry.get("bytes")), digest, None if unpacked is None else _size(unpacked)
            ),
        )


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r:.40} is no number of bytes")
    return value


def _files_below(base: Path) -> Iterator[Path]:
    """All things that are no folders, in order, but the manifest and what is hidden."""
    for path in sorted(base.rglob("*"), key=lambda path: path.as_posix()):
        parts = path.relative_to(base).parts
        is_folder = path.is_dir() and not path.is_symlink()
        if parts != (MANIFEST,) and not is_folder and not any(p.startswith(".") for p in parts):
            yield path


def _digest(path: Path) -> str:
    sha = hashlib.sha256()
    block = memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as file:
        while n_bytes := file.readinto(block):
            sha.update(block[:n_bytes])
    return sha.hexdigest()


def _remedy(directory: Path) -> str:
    return (
        "copy the model again, or, if the change is yours, run: "
        f"sumfit export {directory} --only-manifest"
    )
