"""A packed corpus: token ids of a whole split in flat arrays on disk, opened without reading.

Owns the file format and its checks. Does not own how it is made (`sumfit.data.packing`) or drawn
from (`sumfit.data.batching`).

A corpus directory holds ``meta.json``, ``tokenizer.json`` and one folder per split with
``source_tokens.bin`` and ``target_tokens.bin`` (flat little-endian ids), ``source_offsets.npy``
and ``target_offsets.npy`` (``(N+1,)`` int64) and ``set_ids.npy`` (``(N,)`` uint16); the
validation split also has ``texts.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sumfit.config import build, to_mapping
from sumfit.errors import ConfigError, DataFormatError
from sumfit.writing import naming, write_whole

__all__ = [
    "CORPUS_FORMAT",
    "CorpusMeta",
    "PackedCorpus",
    "PackedSet",
    "SplitWriter",
    "ValidText",
    "is_packed",
    "read_meta",
    "read_valid_texts",
    "token_dtype",
    "write_meta",
]

CORPUS_FORMAT = "sumfit-corpus-1"
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedSet:
    """One data set in one text profile.

    Attributes:
        name: Name of the set.
        profile: Text profile its texts went through.
        weight: How often an epoch takes each of its pairs, on average.
        style: What a model with control pieces is told of its summaries; empty for nothing.
    """

    name: str
    profile: str
    weight: float
    style: str = ""


@dataclass(frozen=True, slots=True)
class CorpusMeta:
    """What ``meta.json`` says.

    Attributes:
        format: ``sumfit-corpus-1``.
        tokenizer_sha256: Fingerprint of the tokenizer that made the ids.
        vocab_size: Its number of pieces.
        max_source: Pieces at which sources were cut.
        sets: The sets that ``set_ids`` counts through.
    """

    format: str
    tokenizer_sha256: str
    vocab_size: int
    max_source: int
    sets: tuple[PackedSet, ...]

    def __post_init__(self) -> None:
        if self.format != CORPUS_FORMAT:
            raise ConfigError(f"format is {self.format!r}, not {CORPUS_FORMAT!r}; pack again")


@dataclass(frozen=True, slots=True)
class ValidText:
    """A validation text with all its references, after the text profile.

    Attributes:
        set: Name of the set.
        profile: Text profile.
        source: Source text.
        summaries: References.
    """

    set: str
    profile: str
    source: str
    summaries: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PackedCorpus:
    """One split, its tokens memory-mapped.

    Attributes:
        meta: Description of the whole corpus.
        source_tokens: ``(sum T,)`` ids of all sources, end to end.
        source_offsets: ``(N+1,)`` where each source begins.
        target_tokens: ``(sum U,)`` ids of all summaries, without begin and end marks.
        target_offsets: ``(N+1,)`` where each summary begins.
        set_ids: ``(N,)`` index into ``meta.sets``.
    """

    meta: CorpusMeta
    source_tokens: npt.NDArray[Any]
    source_offsets: IntArray
    target_tokens: npt.NDArray[Any]
    target_offsets: IntArray
    set_ids: npt.NDArray[np.uint16]

    def __len__(self) -> int:
        return int(self.set_ids.shape[0])

    @property
    def source_lengths(self) -> IntArray:
        """``(N,)`` pieces of each source."""
        return np.diff(self.source_offsets)

    @property
    def target_lengths(self) -> IntArray:
        """``(N,)`` pieces of each summary."""
        return np.diff(self.target_offsets)

    @property
    def fingerprint(self) -> str:
        """Name of the split's texts, by their lengths and sets."""
        digest = hashlib.sha256()
        for array in (self.source_offsets, self.target_offsets, self.set_ids):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @classmethod
    def open(cls, directory: str | Path, split: str) -> PackedCorpus:
        """Open one split of a corpus directory.

        Args:
            directory: The corpus.
            split: ``train`` or ``valid``.

        Returns:
            The split.

        Raises:
            DataFormatError: If the directory is not a corpus, lacks the split, or files of the
                split do not belong together.
        """
        directory = Path(directory)
        meta = read_meta(directory)
        folder = directory / split
        dtype = token_dtype(meta.vocab_size)
        try:
            source_offsets = np.load(folder / "source_offsets.npy", allow_pickle=False)
            target_offsets = np.load(folder / "target_offsets.npy", allow_pickle=False)
            set_ids = np.load(folder / "set_ids.npy", allow_pickle=False)
            source_tokens = _map_tokens(folder / "source_tokens.bin", dtype)
            target_tokens = _map_tokens(folder / "target_tokens.bin", dtype)
        except (OSError, ValueError) as error:
            raise DataFormatError(f"{folder} is not a split of a packed corpus: {error}") from error
        corpus = cls(meta, source_tokens, source_offsets, target_tokens, target_offsets, set_ids)
        n_pairs = len(corpus)
        if (
            source_offsets.shape != (n_pairs + 1,)
            or target_offsets.shape != (n_pairs + 1,)
            or source_offsets[-1] != source_tokens.shape[0]
            or target_offsets[-1] != target_tokens.shape[0]
        ):
            raise DataFormatError(f"{folder}: offsets and tokens do not fit; pack again")
        return corpus

    def reweighted(self, sets: Sequence[PackedSet]) -> PackedCorpus:
        """Give sets other weights and styles than they were packed with.

        Args:
            sets: The new ones, by name and profile; sets not named keep theirs.

        Returns:
            The same pairs.
        """
        given = {(entry.name, entry.profile): entry for entry in sets}
        changed = tuple(given.get((entry.name, entry.profile), entry) for entry in self.meta.sets)
        return replace(self, meta=replace(self.meta, sets=changed))

    def item(self, index: int) -> tuple[IntArray, IntArray]:
        """Take one pair.

        Args:
            index: Its place in the split.

        Returns:
            ``(T,)`` source ids and ``(U,)`` summary ids.
        """
        source = self.source_tokens[self.source_offsets[index] : self.source_offsets[index + 1]]
        target = self.target_tokens[self.target_offsets[index] : self.target_offsets[index + 1]]
        return source.astype(np.int64), target.astype(np.int64)


def token_dtype(vocab_size: int) -> np.dtype[Any]:
    """Say which integers hold the ids of a vocabulary on disk.

    Args:
        vocab_size: Number of pieces.

    Returns:
        uint16 where it suffices, else uint32, little-endian.
    """
    return np.dtype("<u2" if vocab_size <= 1 << 16 else "<u4")


def is_packed(directory: str | Path) -> bool:
    """Say whether a directory holds a corpus that was packed to its end.

    Args:
        directory: The directory, whether or not it is there.

    Returns:
        Whether it does; ``meta.json`` is written last.
    """
    return (Path(directory) / "meta.json").exists()


def read_meta(directory: str | Path) -> CorpusMeta:
    """Read and check ``meta.json`` of a corpus.

    Args:
        directory: The corpus.

    Returns:
        Its description.

    Raises:
        DataFormatError: If the file is missing or does not describe a corpus of this version.
    """
    path = Path(directory) / "meta.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return build(CorpusMeta, values, what=path.name)
    except OSError as error:
        raise DataFormatError(
            f"{directory} is not a packed corpus ({path.name}: {error.strerror}); "
            "make one with: sumfit data pack RECIPE"
        ) from error
    except ValueError as error:
        raise DataFormatError(f"{path} does not describe a packed corpus: {error}") from error


def write_meta(directory: Path, meta: CorpusMeta) -> None:
    """Write ``meta.json``.

    Args:
        directory: The corpus.
        meta: Its description.
    """
    text = json.dumps(to_mapping(meta), indent=1, ensure_ascii=False)
    write_whole(directory / "meta.json", f"{text}\n".encode())


def read_valid_texts(directory: str | Path) -> list[ValidText]:
    """Read the texts of the validation split.

    Args:
        directory: The corpus.

    Returns:
        Texts in the order of the split; empty where the corpus has none.
    """
    path = Path(directory) / "valid" / "texts.jsonl"
    if not path.exists():
        return []
    lines = path.read_bytes().decode("utf-8").split("\n")
    return [build(ValidText, json.loads(line), what=str(path)) for line in lines if line]


class SplitWriter:
    """Write one split in pieces, in order; usable as a context manager."""

    def __init__(self, folder: Path, vocab_size: int) -> None:
        """Start an empty split.

        Args:
            folder: Folder of the split, made if absent.
            vocab_size: Number of pieces of the tokenizer.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._dtype = token_dtype(vocab_size)
        self._source: BinaryIO = (folder / "source_tokens.bin").open("wb")
        self._target: BinaryIO = (folder / "target_tokens.bin").open("wb")
        self._source_lengths: list[npt.NDArray[np.int32]] = []
        self._target_lengths: list[npt.NDArray[np.int32]] = []
        self._set_ids: list[npt.NDArray[np.uint16]] = []

    def append(
        self,
        *,
        sources: npt.NDArray[Any],
        source_lengths: npt.NDArray[np.int32],
        targets: npt.NDArray[Any],
        target_lengths: npt.NDArray[np.int32],
        set_id: int,
    ) -> None:
        """Add pairs of one set.

        Args:
            sources: Flat ids of all sources, end to end.
            source_lengths: ``(n,)`` pieces of each.
            targets: Flat ids of all summaries, end to end.
            target_lengths: ``(n,)`` pieces of each.
            set_id: Index of the set.
        """
        with naming(self._source.name):
            self._source.write(np.ascontiguousarray(sources, dtype=self._dtype).data)
        with naming(self._target.name):
            self._target.write(np.ascontiguousarray(targets, dtype=self._dtype).data)
        self._source_lengths.append(source_lengths)
        self._target_lengths.append(target_lengths)
        self._set_ids.append(np.full(source_lengths.shape[0], set_id, dtype=np.uint16))

    def close(self) -> None:
        """Write the offsets and close the files."""
        with naming(self._folder):
            with self._source, self._target:  # closes both, even where one fails
                pass
            lengths_of = {"source": self._source_lengths, "target": self._target_lengths}
            for name, lengths in lengths_of.items():
                joined = np.concatenate([np.zeros(1, np.int64), *lengths])
                np.save(self._folder / f"{name}_offsets.npy", np.cumsum(joined, dtype=np.int64))
            empty = np.zeros(0, dtype=np.uint16)
            np.save(self._folder / "set_ids.npy", np.concatenate([empty, *self._set_ids]))

    def __enter__(self) -> SplitWriter:
        """Use as a context manager that closes at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close whatever happened, so that no file stays open."""
        self.close()


def _map_tokens(path: Path, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if path.stat().st_size == 0:
        return np.zeros(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r")
