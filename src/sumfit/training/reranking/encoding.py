"""Lists as a reranker reads them: ids of its encoder, and numbers about the candidates.

Owns the second tokenisation and the numbers, made once for each encoder, number and order of
candidates, and kept beside the lists.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.models.reranker_config import RerankerShape
from sumfit.processors import checked_workers
from sumfit.rerank.features import FEATURES, ListNumbers, candidate_features
from sumfit.rerank.phrases import Phrases
from sumfit.rerank.pieces import PieceReader
from sumfit.rerank.text_features import LIST_FEATURES, text_features
from sumfit.text import Tokenizer
from sumfit.text.split import split_words
from sumfit.training.nbest.lists import Lists, part_path, read_lists
from sumfit.workers import Workers
from sumfit.writing import write_arrays

__all__ = ["encode_lists"]

_MOST_SOURCE, _MOST_CANDIDATE = 192, 64  # ids kept on disk; a network may read fewer


@dataclass(frozen=True, slots=True)
class _Encoding:
    """How the pieces of a part become ids of an encoder."""

    shape: RerankerShape
    reader: str
    tokenizer: str
    temperature: float


def encode_lists(
    directory: str | Path, shape: RerankerShape, *, reader: str | Path, n_workers: int = 0
) -> list[Path]:
    """Encode the lists of all parts of a directory for one network, where that is not done yet.

    Args:
        directory: Directory of lists.
        shape: The network; its order and number of candidates, and whether it reads features.
        reader: The encoder's ``tokenizer.json``, or the table of phrases.
        n_workers: Processes; 0 for one per core.

    Returns:
        One file for each part, with ``Lists.given`` of it encoded.
    """
    directory = Path(directory)
    meta, _ = read_lists(directory)
    digest = hashlib.sha256(Path(reader).read_bytes())
    names = LIST_FEATURES if shape.encoder == "none" else FEATURES
    read = names if shape.n_features else ()
    digest.update(repr((shape.n_candidates, float(shape.order_weight), read)).encode())
    name = digest.hexdigest()[:12]
    targets = [directory / f"ids-{name}-{number:05d}.npz" for number in range(meta.n_parts)]
    encoding = _Encoding(
        shape, os.fspath(reader), str(directory / "tokenizer.json"), meta.mbr_temperature
    )
    todo = [
        (part_path(directory, number), target, encoding)
        for number, target in enumerate(targets)
        if not target.exists()
    ]
    n_workers = min(len(todo), checked_workers(n_workers))
    if n_workers > 1:
        with Workers(n_workers) as workers:
            for _ in workers.map(_encode_part, todo):
                pass  # each writes its own file
    else:
        for task in todo:
            _encode_part(task)
    return targets


def _encode_part(task: tuple[Path, Path, _Encoding]) -> None:
    source, target, encoding = task
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    shape = encoding.shape
    lists = Lists.load(source).given(most=shape.n_candidates, weight=shape.order_weight)
    words = Tokenizer.from_file(encoding.tokenizer)
    texts = {
        "source": _texts(lists.source_ids, lists.source_lengths, words),
        "candidate": _texts(lists.candidate_ids, lists.candidate_lengths, words),
    }
    arrays: dict[str, Any] = {}
    if shape.n_features:
        arrays["features"] = _features(lists, texts["source"], texts["candidate"], encoding)
    if shape.encoder == "none":  # sources and candidates themselves are one mark each
        for name, some in texts.items():
            arrays[f"{name}_ids"] = np.ones(len(some), dtype=np.int32)
            arrays[f"{name}_lengths"] = arrays[f"{name}_ids"]
        write_arrays(target, arrays)
        return
    reader = PieceReader(shape.encoder, encoding.reader)
    for name, most in (("source", _MOST_SOURCE), ("candidate", _MOST_CANDIDATE)):
        encoded = reader.encode(texts[name], most=most)
        arrays[f"{name}_lengths"] = np.array([len(one) for one in encoded], dtype=np.int32)
        arrays[f"{name}_ids"] = np.array([i for one in encoded for i in one], dtype=np.int32)
    write_arrays(target, arrays)


def _texts(ids: npt.NDArray[Any], lengths: npt.NDArray[Any], words: Tokenizer) -> list[str]:
    ends = np.cumsum(lengths).tolist()
    flat = ids.tolist()
    return [words.decode(flat[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def _features(
    lists: Lists, sources: Sequence[str], texts: Sequence[str], encoding: _Encoding
) -> npt.NDArray[np.float32]:
    """Features of all candidates, ``(M, F)``, by the code that computes them at run time."""
    shape, temperature = encoding.shape, encoding.temperature
    phrases = Phrases.load(Path(encoding.reader)) if shape.encoder == "none" else None
    ends = np.cumsum(lists.n_candidates, dtype=np.int64).tolist()
    features = [np.zeros((0, shape.n_features), np.float32)]
    for source, a, b in zip(sources, [0, *ends[:-1]], ends, strict=True):
        numbers = ListNumbers(
            log_probs=lists.log_probs[a:b],
            scores=lists.scores[a:b],
            n_pieces=lists.candidate_lengths[a:b],
            ranks=lists.ranks[a:b],
            expected_f1=lists.expected_f1[a:b],
        )
        if phrases is not None:
            found = text_features(
                source, texts[a:b], numbers, phrases=phrases, temperature=temperature
            )
        else:
            words = [split_words(text) for text in texts[a:b]]
            found = candidate_features(words, numbers, temperature=temperature)
        features.append(found)
    return np.concatenate(features)
