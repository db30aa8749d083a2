"""Turn text files into a packed corpus: read, clean, tokenise, filter, count, over processes.

Owns the filters and their counts. Does not own the file formats (`sumfit.data.readers`,
`sumfit.data.corpus`). One process reads and hands out blocks of lines; workers parse, apply the
text profile and tokenise; results are written in file order, so the corpus is the same for any
number of workers.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sumfit.data.corpus import (
    CORPUS_FORMAT,
    CorpusMeta,
    PackedSet,
    SplitWriter,
    write_meta,
)
from sumfit.data.lines import open_bytes
from sumfit.data.pack_worker import Form, Packed, Task, Worker, pack_in_worker, start_worker
from sumfit.data.readers import ReadReport, file_format
from sumfit.data.sets import PackOptions, SetSpec, missing_files, read_set
from sumfit.errors import ConfigError, DataFormatError, InputError
from sumfit.processors import checked_workers
from sumfit.text import Tokenizer
from sumfit.workers import Workers
from sumfit.writing import naming, write_whole

__all__ = ["PackReport", "pack_corpus"]

_BLOCK_BYTES = 1 << 20
_BLOCK_PAIRS = 2048
_AHEAD = 4  # blocks of each worker in memory, whatever the corpus size
_HELD_OUT = "source is in a validation or test file"
_DUPLICATE = "duplicate"
_BEYOND = "beyond the first"


@dataclass(slots=True)
class PackReport:
    """Counts of a packing run.

    Attributes:
        kept: Pairs written, by ``(split, set, profile)``.
        dropped: Pairs left out, by ``(split, set, reason)``.
        cut: Sources cut at ``max_source``, by ``(split, set)``.
        tokens: Source and target pieces written, by split.
        messages: The first bad records, each with file and line.
        first_bad: The first of each ``(split, set)``.
    """

    kept: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    dropped: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    cut: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)
    first_bad: dict[tuple[str, str], str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Say it in lines of text, one for each set, then one for each reason."""
        rows = [(n, "kept", f"{a} {b} ({c})") for (a, b, c), n in self.kept.items()]
        rows += [(n, "dropped", f"{a} {b}: {c}") for (a, b, c), n in self.dropped.items()]
        rows += [(n, "cut", f"{a} {b}: source too long") for (a, b), n in self.cut.items()]
        rows += [(n, "pieces", what) for what, n in self.tokens.items()]
        return [f"{n:>12,}  {what:<8} {rest}" for n, what, rest in rows] + self.messages


def pack_corpus(
    sets: Sequence[SetSpec],
    *,
    data_dir: str | Path,
    tokenizer_path: str | Path,
    output: str | Path,
    options: PackOptions | None = None,
    n_workers: int = 0,
    on_progress: Callable[[str, int], None] | None = None,
) -> PackReport:
    """Pack sets of text files into one corpus directory.

    Exact duplicates (source and summary, by their letters and digits) are packed once, and
    training pairs whose source is in a validation or test file are left out.

    Args:
        sets: The sets, in order.
        data_dir: Where relative file names start.
        tokenizer_path: Tokenizer file; copied into the corpus.
        output: Directory to make.
        options: Filters.
        n_workers: Worker processes; 0 for one per core, 1 to stay in this process.
        on_progress: Called with the name of a set and the number of its pairs just done.

    Returns:
        What was kept and dropped.

    Raises:
        ConfigError: If two sets have one name or files are missing; all are listed. If there are
            far more workers than processors.
        InputError: If nothing of a file can be used; all are listed.
    """
    options = options or PackOptions()
    data_dir, output = Path(data_dir), Path(output)
    problems = missing_files(sets, data_dir)
    names = [spec.name for spec in sets]
    problems += [
        f"two sets are named {name}" for name in sorted(set(names)) if names.count(name) > 1
    ]
    if problems:
        raise ConfigError("\n".join(problems))
    n_workers = checked_workers(n_workers)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    output.mkdir(parents=True, exist_ok=True)
    (output / "meta.json").unlink(missing_ok=True)  # what is half packed is no corpus
    tokenizer.save(output / "tokenizer.json")
    packed_sets = tuple(entry for spec in sets for entry in spec.packed_sets)
    sink = _Sink(sets, packed_sets, output, tokenizer.vocab_size, options)
    tasks = _tasks(sets, data_dir, options)
    arguments = (str(tokenizer_path), tuple(sets), options)
    with sink, contextlib.closing(_run(tasks, arguments, n_workers)) as results:
        for packed in results:
            n_done = sink.take(packed)
            if on_progress:
                on_progress(f"{sets[packed.set_index].name} {packed.split}", n_done)
    write_whole(output / "report.txt", "\n".join([*sink.report.lines(), ""]).encode())
    if problems := list(_without_pairs(sets, sink.report)):
        raise InputError("\n".join(problems))
    meta = CorpusMeta(
        CORPUS_FORMAT, tokenizer.fingerprint, tokenizer.vocab_size, options.max_source, packed_sets
    )
    write_meta(output, meta)
    return sink.report


def _without_pairs(sets: Sequence[SetSpec], report: PackReport) -> Iterator[str]:
    """Name the files with no pair that can be used, and why: training would not miss them.

    A file whose good pairs all stand in another file too is none of them.
    """
    for spec in sets:
        for split in ("train", "valid"):
            kept = sum(report.kept[split, spec.name, entry.profile] for entry in spec.packed_sets)
            reasons = {
                reason: n
                for (a, b, reason), n in report.dropped.items()
                if (a, b) == (split, spec.name)
            }
            if not spec.has(split) or kept or any(map(_is_elsewhere, reasons)):
                continue
            why = "; ".join(f"{n:,} times {reason}" for reason, n in reasons.items())
            first = report.first_bad.get((split, spec.name), "")
            yield (
                f"set {spec.name}: its {split} file holds no usable pair"
                + (why and f" ({why})")
                + (first and f"; the first: {first}")
            )


def _is_elsewhere(reason: str) -> bool:
    return reason == _DUPLICATE or reason == _HELD_OUT or reason.startswith(_BEYOND)


class _Sink:
    """Receives packed blocks in order, drops duplicates, writes the splits."""

    def __init__(
        self,
        sets: Sequence[SetSpec],
        packed_sets: Sequence[PackedSet],
        output: Path,
        vocab_size: int,
        options: PackOptions,
    ) -> None:
        self.report = PackReport()
        self._sets = sets
        self._ids = {(entry.name, entry.profile): i for i, entry in enumerate(packed_sets)}
        self._options = options
        self._held_out: set[int] = set()
        self._seen: set[int] = set()
        self._n_valid: Counter[str] = Counter()
        self._writers = {
            split: SplitWriter(output / split, vocab_size) for split in ("train", "valid")
        }
        self._texts = (output / "valid" / "texts.jsonl").open("w", encoding="utf-8", newline="\n")

    def __enter__(self) -> _Sink:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.ExitStack() as stack:  # closes all, even where one fails
            for writer in self._writers.values():
                stack.callback(writer.close)
            stack.enter_context(naming(self._texts.name))
            self._texts.close()

    def take(self, packed: Packed) -> int:
        """Write what is new in a block; return the number of pairs it came from."""
        name, split, report = self._sets[packed.set_index].name, packed.split, self.report
        for reason, count in packed.dropped.items():
            report.dropped[split, name, reason] += count
        if packed.n_cut:
            report.cut[split, name] += packed.n_cut
        if packed.messages:
            report.first_bad.setdefault((split, name), packed.messages[0])
        report.messages += packed.messages[: max(0, 20 - len(report.messages))]
        keep = self._choose(packed, name)
        if split == "test":
            return len(packed.hashes)
        for form in packed.forms:
            self._write(form, keep, name, split)
        return len(packed.hashes)

    def _choose(self, packed: Packed, name: str) -> npt.NDArray[np.bool_]:
        keep = np.ones(len(packed.hashes), dtype=bool)
        split = packed.split
        for row, (source_hash, pair_hash) in enumerate(packed.hashes):
            if split != "train":
                self._held_out.add(source_hash)
            reason = ""
            if split == "train" and source_hash in self._held_out:
                reason = _HELD_OUT
            elif split != "test" and pair_hash in self._seen:
                reason = _DUPLICATE
            elif split == "valid" and self._n_valid[name] >= self._options.max_valid:
                reason = f"{_BEYOND} {self._options.max_valid} of validation"
            if reason:
                keep[row] = False
                self.report.dropped[split, name, reason] += 1
            elif split != "test":
                self._seen.add(pair_hash)
                self._n_valid[name] += split == "valid"
        return keep

    def _write(self, form: Form, keep: npt.NDArray[np.bool_], name: str, split: str) -> None:
        kept = keep[form.row]
        source = form.source[np.repeat(kept, form.source_lengths)]
        target = form.target[np.repeat(kept, form.target_lengths)]
        self._writers[split].append(
            sources=source,
            source_lengths=form.source_lengths[kept],
            targets=target,
            target_lengths=form.target_lengths[kept],
            set_id=self._ids[name, form.profile],
        )
        for index in np.flatnonzero(kept) if split == "valid" else ():
            text, summaries = form.texts[index]
            record = {"set": name, "profile": form.profile, "source": text, "summaries": summaries}
            with naming(self._texts.name):
                self._texts.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.report.kept[split, name, form.profile] += int(kept.sum())
        self.report.tokens[f"{split} source"] += source.shape[0]
        self.report.tokens[f"{split} target"] += target.shape[0]


def _tasks(sets: Sequence[SetSpec], data_dir: Path, options: PackOptions) -> Iterator[Task]:
    """Blocks of all files; held-out splits first, so that training pairs can be checked."""
    for split in ("test", "valid", "train"):
        for index, spec in enumerate(sets):
            if not spec.has(split):
                continue
            path = data_dir / getattr(spec, split)
            is_plain = not spec.n_synthetic and not getattr(spec, f"{split}_summaries", "")
            if is_plain and file_format(path) == "jsonl":
                line = 1
                for block in _line_blocks(path):
                    yield Task(index, split, str(path), line, block)
                    line += block.count(b"\n")
                continue
            report = ReadReport()
            pairs = read_set(spec, split, data_dir, options.on_bad, report)
            while chunk := list(itertools.islice(pairs, _BLOCK_PAIRS)):
                yield Task(index, split, str(path), chunk[0].line, chunk)
            if report.n_skipped:
                messages = tuple(report.messages)
                yield Task(index, split, str(path), 0, [], report.n_skipped, messages)


def _line_blocks(path: Path) -> Iterator[bytes]:
    with open_bytes(path) as stream:
        while True:
            try:
                block = stream.read(_BLOCK_BYTES)
                block += stream.readline() if block else b""
            except (OSError, EOFError, ValueError) as error:
                raise DataFormatError(f"{path}: damaged: {error}") from error
            if not block:
                return
            yield block


def _run(
    tasks: Iterator[Task], arguments: tuple[str, tuple[SetSpec, ...], PackOptions], n_workers: int
) -> Generator[Packed, None, None]:
    if n_workers == 1:
        yield from map(Worker(*arguments).pack, tasks)
        return
    with Workers(n_workers, start_worker, arguments) as workers:
        yield from workers.map(pack_in_worker, tasks, n_ahead=_AHEAD)
