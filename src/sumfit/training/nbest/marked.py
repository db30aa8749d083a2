"""Lists of candidates that readers have marked, for a packed corpus.

Owns the file of marks and how its texts are found in a corpus. Each line of the file is a JSON
object: ``source``, ``summary`` (what an editor would print, the pair of the corpus),
``candidates`` (texts that a model wrote) and ``fit`` (for each, whether it may be printed as it
is: true, false, or a grade between 0 and 1). The lists are those of
`sumfit.training.nbest.lists`, with marks for gains, true as 1. The summary is in no list: it is
much less likely under a model than what the model wrote, so that to prefer it says little of how
the model's own lines stand to each other. But a list of one candidate teaches the pair alone, so
that texts of another form (``profile``) may stand among the others.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sumfit.data.corpus import PackedCorpus
from sumfit.data.readers import Row, read_rows
from sumfit.errors import DataFormatError, IncompatibleModelError
from sumfit.rerank.scorer import ChoiceWeights
from sumfit.text import Tokenizer, get_profile
from sumfit.training.nbest.lists import FORMAT, ListMeta, Lists, part_path, write_meta

__all__ = ["LENGTH_REWARD", "MarkReport", "MarkedText", "read_marked", "write_marked_lists"]

LENGTH_REWARD = 0.2
"""Nats that the choice among candidates adds for each character (`sumfit.rerank.scorer`)."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with the lines that readers have marked.

    Attributes:
        source: The text.
        summary: What an editor would print.
        candidates: What a model wrote.
        fit: For each candidate, how fit it is to be printed as it is, from 0 to 1.
        profile: Text form of the pair.
    """

    source: str
    summary: str
    candidates: tuple[str, ...]
    fit: tuple[float, ...]
    profile: str = "natural"


@dataclass(slots=True)
class MarkReport:
    """How many texts became lists, and why others did not.

    Attributes:
        n_lists: Lists written.
        n_candidates: Candidates in them.
        n_fit: Those that are fit to be printed.
        dropped: Texts without a list, by reason.
    """

    n_lists: int = 0
    n_candidates: int = 0
    n_fit: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """Say it in lines for a terminal."""
        first = (
            f"{self.n_lists:,} lists of {self.n_candidates:,} candidates; "
            f"{self.n_fit:,} of them marked as fit"
        )
        return [first, *(f"{count:,} left out: {why}" for why, count in self.dropped.most_common())]


def read_marked(file: str | Path) -> list[MarkedText]:
    """Read marked texts.

    Args:
        file: JSON lines, or one of the compressed forms that pairs may have.

    Returns:
        The texts.

    Raises:
        DataFormatError: If a line is not of the form that the module describes.
    """
    return [_marked(row, Path(file).name) for row in read_rows(file)]


def _marked(row: Row, name: str) -> MarkedText:
    values = row.fields
    candidates, fit = values.get("candidates"), values.get("fit")
    for field_name in ("source", "summary"):
        if not isinstance(values.get(field_name), str):
            raise DataFormatError(
                f"{name}:{row.line}: {field_name} must be a text, was "
                f"{values.get(field_name)!r}; give it for each line"
            )
    if not isinstance(candidates, list) or not all(isinstance(c, str) for c in candidates):
        raise DataFormatError(
            f"{name}:{row.line}: candidates must be a list of texts, was {candidates!r}; "
            "give the lines that were marked"
        )
    if not isinstance(fit, list) or len(fit) != len(candidates) or not all(map(_is_mark, fit)):
        raise DataFormatError(
            f"{name}:{row.line}: fit must hold true, false or a number from 0 to 1 for each of the "
            f"{len(candidates)} candidates, was {fit!r}"
        )
    source, summary = str(values["source"]), str(values["summary"])
    profile = str(values.get("profile", "natural"))
    return MarkedText(source, summary, (*candidates,), tuple(map(float, fit)), profile)


def _is_mark(value: object) -> bool:
    return isinstance(value, (bool, int, float)) and 0 <= value <= 1


def write_marked_lists(file: str | Path, corpus: str | Path, output: str | Path) -> MarkReport:
    """Turn marked texts into the lists of a corpus that holds their pairs.

    Args:
        file: Marked texts.
        corpus: Packed corpus; texts that it lacks are counted and left out.
        output: Directory to write, with one part.

    Returns:
        What was written.

    Raises:
        IncompatibleModelError: If the directory is there already.
        DataFormatError: If the file or the corpus cannot be read, or no text is in the corpus.
    """
    output = Path(output)
    if (output / "meta.json").exists():
        raise IncompatibleModelError(
            f"{output} holds lists already; name another directory or remove it"
        )
    split = PackedCorpus.open(corpus, "train")
    tokenizer = Tokenizer.from_file(Path(corpus) / "tokenizer.json")
    marked = read_marked(file)
    places = {tuple(split.item(item)[0].tolist()): item for item in range(len(split))}
    longest = int(split.source_lengths.max())
    read = [get_profile(text.profile).apply_source(text.source) for text in marked]
    sources = tokenizer.encode_batch(read)
    report = MarkReport()
    rows: dict[int, tuple[list[int], MarkedText]] = {}
    for text, source in zip(marked, sources, strict=True):
        item = places.get(tuple(source[:longest]))
        if item is None:
            report.dropped["not in the corpus"] += 1
        elif not text.candidates:
            report.dropped["without candidates"] += 1
        elif item in rows:
            report.dropped["an earlier line is of the same text"] += 1
        else:
            rows[item] = source[:longest], text
    if not rows:
        raise DataFormatError(
            f"none of the {len(marked)} texts of {file} is in {corpus}; pack their pairs first"
        )
    lists = _lists_of(rows, tokenizer, report)
    meta = ListMeta(
        format=FORMAT,
        model="readers",
        model_sha256=hashlib.sha256(Path(file).read_bytes()).hexdigest(),
        tokenizer_sha256=split.meta.tokenizer_sha256,
        data_sha256=split.fingerprint,
        data=f"{file}, marked by readers",
        settings=json.dumps({"split": "train", "marks": Path(file).name}, sort_keys=True),
        n_items=len(lists),
        n_parts=1,
        profiles=tuple(sorted({text.profile for _, text in rows.values()})),
        seen_in_training=True,
    )
    output.mkdir(parents=True, exist_ok=True)
    lists.save(part_path(output, 0))
    tokenizer.save(output / "tokenizer.json")
    write_meta(output, meta)
    return report


def _lists_of(
    rows: dict[int, tuple[list[int], MarkedText]], tokenizer: Tokenizer, report: MarkReport
) -> Lists:
    """Make the lists, in the order of their places in the corpus."""
    reward = ChoiceWeights().length
    items = sorted(rows)
    counts, limits, candidate_ids, lengths, scores, gains = [], [], [], [], [], []
    for item in items:
        text = rows[item][1]
        lines, profile = text.candidates, get_profile(text.profile)
        pieces = tokenizer.encode_batch([profile.apply_summary(line) for line in lines])
        counts.append(len(lines))
        limits.append(max(map(len, lines)))
        for line, mark, ids in zip(lines, text.fit, pieces, strict=True):
            candidate_ids += ids
            lengths.append(len(ids))
            scores.append(reward * len(line))
            gains.append(mark)
        report.n_fit += sum(mark == 1 for mark in text.fit)
    report.n_lists, report.n_candidates = len(items), len(lengths)
    sources = [rows[item][0] for item in items]
    nothing = np.zeros(len(lengths))
    return Lists(
        items=np.array(items, dtype=np.int64),
        limits=np.array(limits, dtype=np.int32),
        n_candidates=np.array(counts, dtype=np.int16),
        source_lengths=np.array([len(ids) for ids in sources], dtype=np.int32),
        source_ids=np.array([word for ids in sources for word in ids], dtype=np.int32),
        candidate_lengths=np.array(lengths, dtype=np.int32),
        candidate_ids=np.array(candidate_ids, dtype=np.int32),
        log_probs=nothing.astype(np.float32),
        scores=np.array(scores, dtype=np.float32),
        gains=np.array(gains, dtype=np.float32),
        overlaps=nothing.astype(np.int16),
        ranks=np.concatenate([np.arange(n) for n in counts]).astype(np.int16),
        expected_f1=nothing.astype(np.float32),
    )
