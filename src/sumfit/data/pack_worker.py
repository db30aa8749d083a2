"""One worker of packing: parse a block of records, apply the text profile, tokenise, filter.

Owns the filters of single pairs. Does not own duplicates and held-out texts, which need to see
the whole corpus (`sumfit.data.packing`).
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sumfit.data.corpus import token_dtype
from sumfit.data.readers import Pair, Row, pair_from_row, parse_json_line
from sumfit.data.sets import PackOptions, SetSpec, longer_than_graph
from sumfit.errors import DataFormatError
from sumfit.text import Tokenizer
from sumfit.text.profiles import get_profile

__all__ = [
    "BAD_RECORD",
    "Form",
    "Packed",
    "Task",
    "Worker",
    "pack_in_worker",
    "start_worker",
    "text_hash",
]

BAD_RECORD = "record does not parse"
_NOT_WORD = re.compile(r"[\W_]+")


class Task(NamedTuple):
    """A block of pairs to pack: raw JSON lines, or pairs already read and what reading left out."""

    set_index: int
    split: str
    name: str
    line: int
    block: bytes | list[Pair]
    n_bad: int = 0
    messages: tuple[str, ...] = ()


class Form(NamedTuple):
    """Packed pairs of one profile; ``row`` says which pair of the block each came from."""

    profile: str
    source: npt.NDArray[Any]
    source_lengths: npt.NDArray[np.int32]
    target: npt.NDArray[Any]
    target_lengths: npt.NDArray[np.int32]
    row: npt.NDArray[np.int32]
    texts: list[tuple[str, tuple[str, ...]]]


class Packed(NamedTuple):
    """A packed block; ``hashes`` holds, for each pair, source hash and pair hash."""

    set_index: int
    split: str
    hashes: list[tuple[int, int]]
    forms: list[Form]
    dropped: Counter[str]
    n_cut: int
    messages: list[str]


class Worker:
    """Parses, cleans and tokenises one block at a time."""

    def __init__(
        self, tokenizer_path: str, sets: tuple[SetSpec, ...], options: PackOptions
    ) -> None:
        """Load the tokenizer.

        Args:
            tokenizer_path: Its file.
            sets: The sets that tasks count through.
            options: Filters.
        """
        self._tokenizer = Tokenizer.from_file(tokenizer_path)
        self._sets = sets
        self._options = options
        self._dtype = token_dtype(self._tokenizer.vocab_size)

    def pack(self, task: Task) -> Packed:
        """Pack one block.

        Args:
            task: The block.

        Returns:
            Its pairs in every profile of the set, with counts.
        """
        spec = self._sets[task.set_index]
        dropped: Counter[str] = Counter()
        messages: list[str] = []
        pairs = self._parse(task, spec, dropped, messages)
        if task.split == "valid":
            flat = [(pair.source, pair.summaries) for pair in pairs]
        else:
            flat = [(pair.source, (summary,)) for pair in pairs for summary in pair.summaries]
        hashes = [
            (text_hash(source), text_hash(source, summaries[0])) for source, summaries in flat
        ]
        forms: list[Form] = []
        n_cut = 0
        if task.split != "test":
            for entry in spec.packed_sets:
                form, cut = self._form(entry.profile, flat, dropped, task.split == "valid")
                forms.append(form)
                n_cut += cut
        return Packed(task.set_index, task.split, hashes, forms, dropped, n_cut, messages)

    def _parse(
        self, task: Task, spec: SetSpec, dropped: Counter[str], messages: list[str]
    ) -> list[Pair]:
        if not isinstance(task.block, bytes):
            if task.n_bad:
                dropped[BAD_RECORD] += task.n_bad
            messages += task.messages
            return task.block
        pairs = []
        for number, raw in enumerate(task.block.split(b"\n"), start=task.line):
            if not raw.strip():
                continue
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                row = Row(number, parse_json_line(text, name=task.name, line=number))
                pairs.append(pair_from_row(row, spec.columns, name=task.name))
            except (DataFormatError, UnicodeDecodeError) as error:
                message = str(error)
                if isinstance(error, UnicodeDecodeError):
                    message = f"{task.name}:{number}: not UTF-8 at byte {error.start} of the line"
                if self._options.on_bad == "raise":
                    raise DataFormatError(message) from error
                dropped[BAD_RECORD] += 1
                messages.append(message)
        return pairs

    def _form(
        self,
        profile_name: str,
        flat: list[tuple[str, tuple[str, ...]]],
        dropped: Counter[str],
        with_texts: bool,
    ) -> tuple[Form, int]:
        options, profile = self._options, get_profile(profile_name)
        texts = [
            (profile.apply_source(source), tuple(map(profile.apply_summary, summaries)))
            for source, summaries in flat
        ]
        sources = self._tokenizer.encode_batch([source for source, _ in texts])
        targets = self._tokenizer.encode_batch([summaries[0] for _, summaries in texts])
        rows, n_cut = [], 0
        for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
            if not source or not target:
                dropped["source or summary is empty"] += 1
            elif "<unk>" in flat[row][1][0] and not with_texts:
                dropped["summary holds <unk>"] += 1
            elif len(target) > (limit := self._limit(min(len(source), options.max_source))):
                dropped[self._too_long(limit)] += 1
            else:
                rows.append(row)
                n_cut += len(source) > options.max_source
        kept_sources = [sources[row][: options.max_source] for row in rows]
        kept_targets = [targets[row] for row in rows]
        form = Form(
            profile_name,
            self._flat(kept_sources),
            np.array([len(ids) for ids in kept_sources], dtype=np.int32),
            self._flat(kept_targets),
            np.array([len(ids) for ids in kept_targets], dtype=np.int32),
            np.array(rows, dtype=np.int32),
            [texts[row] for row in rows] if with_texts else [],
        )
        return form, n_cut

    def _n_vertices(self, n_source: int) -> int:
        options = self._options
        n_vertices = max(int(np.ceil(options.vertex_scale * n_source)), options.min_vertices)
        return min(n_vertices, options.max_vertices)

    def _limit(self, n_source: int) -> int:
        return min(self._options.max_target, self._n_vertices(n_source) - 2)

    def _too_long(self, limit: int) -> str:
        options = self._options
        if limit == options.max_target:
            return f"summary is longer than max_target allows ({limit} pieces)"
        sizes = self._n_vertices(1), self._n_vertices(options.max_source)
        return f"summary is {longer_than_graph(*sizes)}"

    def _flat(self, rows: list[list[int]]) -> npt.NDArray[Any]:
        return np.fromiter(itertools.chain.from_iterable(rows), dtype=self._dtype)


def text_hash(*texts: str) -> int:
    """Hash the letters and digits of texts, case left out.

    Args:
        *texts: Texts, in order.

    Returns:
        64 bits.
    """
    joined = "\0".join(_NOT_WORD.sub(" ", text.lower()).strip() for text in texts)
    digest = hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


_worker: Worker | None = None


def start_worker(tokenizer_path: str, sets: tuple[SetSpec, ...], options: PackOptions) -> None:
    """Prepare a worker process.

    Args:
        tokenizer_path: Tokenizer file.
        sets: The sets that tasks count through.
        options: Filters.
    """
    global _worker
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # processes are the parallelism here
    _worker = Worker(tokenizer_path, sets, options)


def pack_in_worker(task: Task) -> Packed:
    """Pack one block in a worker process that `start_worker` prepared.

    Args:
        task: The block.

    Returns:
        Its pairs.
    """
    assert _worker is not None
    return _worker.pack(task)
