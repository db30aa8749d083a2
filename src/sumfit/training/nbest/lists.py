"""N-best lists with their gains, as flat arrays in numbered parts on disk.

Owns the file format and its checks. Does not own how lists are made (`sumfit.training.nbest.make`).

A directory holds ``meta.json``, the summarizer's ``tokenizer.json`` and ``part-NNNNN.npz``. Each
part has the lists of a fixed slice of the data, so parts can be made by several processes and
machines, in any order, and what is there already is not made again.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.config import build, to_mapping
from sumfit.errors import ConfigError, DataFormatError

__all__ = ["FORMAT", "ListMeta", "Lists", "part_path", "read_lists", "read_meta", "write_meta"]

FORMAT = "sumfit-nbest-1"
_PER_LIST: dict[str, Any] = {
    "items": np.int64,
    "limits": np.int32,
    "n_candidates": np.int16,
    "source_lengths": np.int32,
}
_PER_CANDIDATE: dict[str, Any] = {
    "candidate_lengths": np.int32,
    "log_probs": np.float32,
    "scores": np.float32,
    "gains": np.float32,
    "overlaps": np.int16,
    "consensus": np.float32,
    "n_words": np.int16,
}
_PIECES: dict[str, Any] = {"source_ids": np.int32, "candidate_ids": np.int32}
_DTYPES = _PER_LIST | _PER_CANDIDATE | _PIECES


@dataclass(frozen=True, slots=True)
class ListMeta:
    """Where lists come from.

    Attributes:
        format: ``sumfit-nbest-1``.
        model: Name of the model that made them.
        model_sha256: Fingerprint of its weights.
        tokenizer_sha256: Fingerprint of its tokenizer.
        data_sha256: Fingerprint of the data.
        data: What the data is: corpus or file, split, profiles, sets, fold.
        settings: Budget, method and options of the search.
        n_items: Texts that lists are made of.
        n_parts: Parts that hold them.
        profiles: Text profiles of the texts.
        seen_in_training: The model was trained on these texts, so its lists are too good.
        mbr_temperature: Temperature of the posterior behind ``consensus``.
    """

    format: str
    model: str
    model_sha256: str
    tokenizer_sha256: str
    data_sha256: str
    data: str
    settings: str
    n_items: int
    n_parts: int
    profiles: tuple[str, ...] = ()
    seen_in_training: bool = False
    mbr_temperature: float = 2.0

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ConfigError(f"format is {self.format!r}, not {FORMAT!r}; make the lists again")


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """N lists with M candidates in all, end to end.

    Attributes:
        items: ``(N,)`` place of each text in its data.
        limits: ``(N,)`` length limit of each.
        n_candidates: ``(N,)`` candidates of each list, most probable first.
        source_lengths: ``(N,)`` pieces of each source.
        source_ids: Pieces of all sources.
        candidate_lengths: ``(M,)`` pieces of each candidate.
        candidate_ids: Pieces of all candidates.
        log_probs: ``(M,)`` nats.
        scores: ``(M,)`` what the search maximised, nats.
        gains: ``(M,)`` mean of the F1 of unigrams, bigrams and longest common subsequence against
            the reference, without stemming; the best over several references.
        overlaps: ``(M,)`` words shared with the reference.
        consensus: ``(M,)`` see `sumfit.rerank.features.consensus`.
        n_words: ``(M,)`` words of each candidate.
    """

    items: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int32]
    n_candidates: npt.NDArray[np.int16]
    source_lengths: npt.NDArray[np.int32]
    source_ids: npt.NDArray[np.int32]
    candidate_lengths: npt.NDArray[np.int32]
    candidate_ids: npt.NDArray[np.int32]
    log_probs: npt.NDArray[np.float32]
    scores: npt.NDArray[np.float32]
    gains: npt.NDArray[np.float32]
    overlaps: npt.NDArray[np.int16]
    consensus: npt.NDArray[np.float32]
    n_words: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return int(self.items.shape[0])

    @classmethod
    def joined(cls, parts: Sequence[Lists]) -> Lists:
        """Put lists end to end.

        Args:
            parts: The lists.

        Returns:
            One of them all.
        """
        empty = cls.empty()
        return cls(
            **{
                name: np.concatenate([getattr(empty, name), *(getattr(p, name) for p in parts)])
                for name in _DTYPES
            }
        )

    @classmethod
    def empty(cls) -> Lists:
        """Make no lists."""
        return cls(**{name: np.zeros(0, dtype=dtype) for name, dtype in _DTYPES.items()})

    def save(self, path: Path) -> None:
        """Write a part; it appears whole or not at all.

        Args:
            path: The file.
        """
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with temporary.open("wb") as file:
            np.savez(file, **{name: getattr(self, name) for name in _DTYPES})
        temporary.replace(path)

    @classmethod
    def load(cls, path: Path) -> Lists:
        """Read a part.

        Args:
            path: The file.

        Returns:
            Its lists.

        Raises:
            DataFormatError: If it is damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                lists = cls(**{name: file[name] for name in _DTYPES})
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            message = f"{path} is damaged ({error}); remove it and make it again"
            raise DataFormatError(message) from error
        n_lists, n_all = len(lists), int(lists.n_candidates.sum())
        sizes = dict.fromkeys(_PER_LIST, n_lists) | dict.fromkeys(_PER_CANDIDATE, n_all)
        sizes["source_ids"] = int(lists.source_lengths.sum())
        sizes["candidate_ids"] = int(lists.candidate_lengths.sum())
        wrong = [name for name, size in sizes.items() if getattr(lists, name).shape != (size,)]
        if wrong:
            raise DataFormatError(
                f"{path}: {wrong[0]} does not fit the other arrays; remove it and make it again"
            )
        return lists


def part_path(directory: Path, number: int) -> Path:
    """Name the file of a part.

    Args:
        directory: The directory.
        number: Number of the part.

    Returns:
        The file.
    """
    return directory / f"part-{number:05d}.npz"


def read_meta(directory: str | Path) -> ListMeta:
    """Read where lists come from.

    Args:
        directory: The directory.

    Returns:
        What ``meta.json`` says.

    Raises:
        DataFormatError: If it is missing or damaged.
    """
    path = Path(directory) / "meta.json"
    try:
        return build(ListMeta, json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise DataFormatError(
            f"{directory} holds no n-best lists ({path.name}: {error.strerror}); "
            "make them with: sumfit nbest"
        ) from error
    except ValueError as error:
        raise DataFormatError(f"{path} does not describe n-best lists: {error}") from error


def write_meta(directory: Path, meta: ListMeta) -> None:
    """Write ``meta.json``; it appears whole or not at all.

    Args:
        directory: The directory.
        meta: Its description.
    """
    temporary = directory / f".meta.{os.getpid()}"
    temporary.write_text(json.dumps(to_mapping(meta), indent=1) + "\n", encoding="utf-8")
    temporary.replace(directory / "meta.json")


def read_lists(directory: str | Path) -> tuple[ListMeta, Iterator[Lists]]:
    """Read all parts of a directory, in order.

    Args:
        directory: The directory.

    Returns:
        Where the lists come from, and the parts, lazily.

    Raises:
        DataFormatError: If parts are missing.
    """
    directory = Path(directory)
    meta = read_meta(directory)
    paths = [part_path(directory, number) for number in range(meta.n_parts)]
    missing = [path.name for path in paths if not path.exists()]
    if missing:
        raise DataFormatError(
            f"{directory} lacks {len(missing)} of {meta.n_parts} parts ({missing[0]}, ...); "
            "make them with the same sumfit nbest command"
        )
    return meta, map(Lists.load, paths)
