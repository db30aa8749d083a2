"""Lists as a reranker reads them: ids of its encoder, or numbers about the candidates.

Owns the second tokenisation, or the numbers where there is no encoder, made once for each encoder
and kept beside the lists.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.models.reranker_config import EncoderKind
from sumfit.rerank.phrases import Phrases
from sumfit.rerank.pieces import PieceReader
from sumfit.rerank.text_features import LIST_FEATURES, text_features
from sumfit.text import Tokenizer
from sumfit.training.nbest.lists import Lists, part_path, read_lists

__all__ = ["encode_lists"]

_MOST_SOURCE, _MOST_CANDIDATE = 192, 64  # ids kept on disk; a network may read fewer


@dataclass(frozen=True, slots=True)
class _Encoding:
    """How the pieces of a part become ids of an encoder."""

    kind: EncoderKind
    reader: str
    tokenizer: str
    temperature: float


def encode_lists(
    directory: str | Path,
    *,
    kind: EncoderKind,
    reader: str | Path,
    n_workers: int = 0,
) -> list[Path]:
    """Encode the texts of all parts of a directory for one encoder, where that is not done yet.

    Without an encoder their features are computed.

    Args:
        directory: Directory of lists.
        kind: Family of the encoder.
        reader: The encoder's ``tokenizer.json``, or the table of phrases.
        n_workers: Processes; 0 for one per core.

    Returns:
        One file for each part.
    """
    directory = Path(directory)
    meta, _ = read_lists(directory)
    digest = hashlib.sha256(Path(reader).read_bytes())
    if kind == "none":
        digest.update(repr(LIST_FEATURES).encode())
    name = digest.hexdigest()[:12]
    targets = [directory / f"ids-{name}-{number:05d}.npz" for number in range(meta.n_parts)]
    encoding = _Encoding(
        kind, os.fspath(reader), str(directory / "tokenizer.json"), meta.mbr_temperature
    )
    todo = [
        (part_path(directory, number), target, encoding)
        for number, target in enumerate(targets)
        if not target.exists()
    ]
    n_workers = min(len(todo), n_workers or os.cpu_count() or 1)
    if n_workers > 1:
        with multiprocessing.get_context("spawn").Pool(n_workers) as pool:
            pool.map(_encode_part, todo, chunksize=1)
    else:
        for task in todo:
            _encode_part(task)
    return targets


def _encode_part(task: tuple[Path, Path, _Encoding]) -> None:
    source, target, encoding = task
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    lists = Lists.load(source)
    words = Tokenizer.from_file(encoding.tokenizer)
    if encoding.kind == "none":
        _write(target, _list_features(lists, words, encoding))
        return
    reader = PieceReader(encoding.kind, encoding.reader)
    arrays: dict[str, Any] = {}
    for name, ids, lengths, most in (
        ("source", lists.source_ids, lists.source_lengths, _MOST_SOURCE),
        ("candidate", lists.candidate_ids, lists.candidate_lengths, _MOST_CANDIDATE),
    ):
        texts = _texts(ids, lengths, words)
        encoded = reader.encode(texts, most=most)
        arrays[f"{name}_lengths"] = np.array([len(one) for one in encoded], dtype=np.int32)
        arrays[f"{name}_ids"] = np.array([i for one in encoded for i in one], dtype=np.int32)
    _write(target, arrays)


def _write(target: Path, arrays: dict[str, Any]) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        np.savez(file, **arrays)
    temporary.replace(target)


def _texts(ids: npt.NDArray[Any], lengths: npt.NDArray[Any], words: Tokenizer) -> list[str]:
    ends = np.cumsum(lengths).tolist()
    flat = ids.tolist()
    return [words.decode(flat[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def _list_features(lists: Lists, words: Tokenizer, encoding: _Encoding) -> dict[str, Any]:
    """Features of all candidates; sources and candidates themselves are one mark each."""
    phrases = Phrases.load(Path(encoding.reader))
    sources = _texts(lists.source_ids, lists.source_lengths, words)
    texts = _texts(lists.candidate_ids, lists.candidate_lengths, words)
    ends = np.cumsum(lists.n_candidates, dtype=np.int64).tolist()
    features = [np.zeros((0, len(LIST_FEATURES)), np.float32)]
    for source, a, b in zip(sources, [0, *ends[:-1]], ends, strict=True):
        features.append(
            text_features(
                source,
                texts[a:b],
                log_probs=lists.log_probs[a:b],
                scores=lists.scores[a:b],
                n_pieces=lists.candidate_lengths[a:b],
                phrases=phrases,
                temperature=encoding.temperature,
            )
        )
    arrays: dict[str, Any] = {"features": np.concatenate(features)}
    for name, size in (("source", len(sources)), ("candidate", len(texts))):
        arrays[f"{name}_ids"] = arrays[f"{name}_lengths"] = np.ones(size, dtype=np.int32)
    return arrays
