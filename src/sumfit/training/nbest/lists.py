"""N-best lists with their gains, as flat arrays in numbered parts on disk.

Owns the file format and its checks. Does not own how lists are made (`sumfit.training.nbest.make`).

A directory holds ``meta.json``, the summarizer's ``tokenizer.json`` and ``part-NNNNN.npz``. Each
part has the lists of a fixed slice of the data, so parts can be made by several processes and
machines, in any order, and what is there already is not made again.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.config import build, to_mapping
from sumfit.errors import ConfigError, DataFormatError
from sumfit.rerank.graph import mbr_places
from sumfit.writing import write_arrays, write_whole

__all__ = ["FORMAT", "ListMeta", "Lists", "part_path", "read_lists", "read_meta", "write_meta"]

FORMAT = "sumfit-nbest-2"
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
    "ranks": np.int16,
    "expected_f1": np.float32,
}
_PIECES: dict[str, Any] = {"source_ids": np.int32, "candidate_ids": np.int32}
_DTYPES = _PER_LIST | _PER_CANDIDATE | _PIECES


@dataclass(frozen=True, slots=True)
class ListMeta:
    """Where lists come from.

    Attributes:
        format: ``sumfit-nbest-2``.
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
        mbr_temperature: Temperature of the posterior behind the feature ``consensus``.
        n_best: Candidates wanted.
        after_best: Expansions of the search after its best was certain; 0 for exact lists.
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
    n_best: int = 20
    after_best: int = 0

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ConfigError(f"format is {self.format!r}, not {FORMAT!r}; make the lists again")


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """N lists with M candidates in all, end to end.

    Attributes:
        items: ``(N,)`` place of each text in its data.
        limits: ``(N,)`` length limit of each.
        n_candidates: ``(N,)`` candidates of each list, best score first as they were found.
        source_lengths: ``(N,)`` pieces of each source.
        source_ids: Pieces of all sources.
        candidate_lengths: ``(M,)`` pieces of each candidate.
        candidate_ids: Pieces of all candidates.
        log_probs: ``(M,)`` nats.
        scores: ``(M,)`` what the search maximised, nats.
        gains: ``(M,)`` mean of the F1 of unigrams, bigrams and longest common subsequence against
            the reference, without stemming; the best over several references.
        overlaps: ``(M,)`` words shared with the reference.
        ranks: ``(M,)`` place of each in the search's own order.
        expected_f1: ``(M,)`` expected F1 of words with what the graph says, see
            `sumfit.rerank.graph`.
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
    ranks: npt.NDArray[np.int16]
    expected_f1: npt.NDArray[np.float32]

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

    def given(self, *, most: int, weight: float) -> Lists:
        """Put each list into the order in which a reranker is given it, and cut it there.

        Args:
            most: Candidates at most of each list.
            weight: See `sumfit.rerank.graph.mbr_places`; 0 for the order that they have.

        Returns:
            The lists of those candidates.
        """
        ends = np.cumsum(self.n_candidates, dtype=np.int64)
        starts = ends - self.n_candidates
        chosen = [np.zeros(0, np.int64)]
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            places = np.arange(end - start)
            if weight:
                part = slice(start, end)
                places = mbr_places(self.scores[part], self.expected_f1[part], weight=weight)
            chosen.append(start + places[:most])
        return self._taken(np.concatenate(chosen), np.minimum(self.n_candidates, most))

    def _taken(self, places: npt.NDArray[np.int64], n_candidates: npt.NDArray[np.int16]) -> Lists:
        """The same lists with other candidates of theirs, by their places among all."""
        lengths = self.candidate_lengths[places]
        first = (np.cumsum(self.candidate_lengths, dtype=np.int64) - self.candidate_lengths)[places]
        offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        values = {name: getattr(self, name)[places] for name in _PER_CANDIDATE}
        values["candidate_ids"] = self.candidate_ids[np.repeat(first, lengths) + offsets]
        return replace(self, n_candidates=n_candidates, **values)

    def save(self, path: Path) -> None:
        """Write a part; it appears whole or not at all.

        Args:
            path: The file.
        """
        write_arrays(path, {name: getattr(self, name) for name in _DTYPES})

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
        values = json.loads(path.read_text(encoding="utf-8"))
        return build(ListMeta, values, what=path.name)
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
    write_whole(directory / "meta.json", json.dumps(to_mapping(meta), indent=1).encode() + b"\n")


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
