"""From directories of n-best lists to the candidates that a summarizer is trained on.

Owns which lists fit a corpus, and which of them are taken.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit.data.candidates import Candidates
from sumfit.data.corpus import PackedCorpus, token_dtype
from sumfit.errors import DataFormatError
from sumfit.training.nbest.lists import ListMeta, Lists, part_path, read_meta

__all__ = ["list_problems", "read_candidates"]

logger = logging.getLogger(__name__)


def list_problems(directories: Sequence[str], corpus: Path) -> list[str]:
    """Say what keeps lists from being trained on with a corpus.

    Args:
        directories: The lists.
        corpus: Directory of the corpus.

    Returns:
        One sentence for each problem.
    """
    if not directories:
        return []
    try:
        split = PackedCorpus.open(corpus, "train")
    except DataFormatError as error:
        return [f"data.lists need the packed corpus that they were made of: {error}"]
    fingerprint, problems = split.fingerprint, list[str]()
    for name in directories:
        try:
            meta = read_meta(name)
            settings = json.loads(meta.settings)
        except ValueError as error:
            problems.append(f"data.lists {name}: {error}")
            continue
        found = settings.get("split")
        if meta.tokenizer_sha256 != split.meta.tokenizer_sha256:
            problems.append(
                f"data.lists {name} are in the pieces of another tokenizer "
                f"({meta.tokenizer_sha256[:12]}) than {corpus} "
                f"({split.meta.tokenizer_sha256[:12]}); make them with a model of that tokenizer"
            )
        elif found != "train":
            problems.append(
                f"data.lists {name} are of the {found} split, which is not to be trained on; "
                "make them with split=train"
            )
        elif meta.data_sha256 != fingerprint:
            problems.append(
                f"data.lists {name} were made of other texts ({meta.data}) than those of {corpus}; "
                f"make them with corpus={corpus}"
            )
        elif not _parts(Path(name), meta):
            problems.append(
                f"data.lists {name} holds none of its {meta.n_parts} parts yet; make them with "
                "the same sumfit nbest command"
            )
    return problems


def read_candidates(directories: Sequence[str], corpus: PackedCorpus) -> Candidates:
    """Read all lists that are there; of two of the same text the first one counts.

    Args:
        directories: The lists, of the texts of this corpus; some of their parts may be missing.
        corpus: The corpus.

    Returns:
        Their candidates.

    Raises:
        DataFormatError: If a part is damaged.
    """
    dtype = token_dtype(corpus.meta.vocab_size)
    parts = []
    for name in directories:
        meta, n_lists = read_meta(name), 0
        paths = _parts(Path(name), meta)
        for path in paths:
            lists = Lists.load(path)
            parts.append(_what_is_kept(lists, dtype))
            n_lists += len(lists)
        logger.info("%s: %d of %d parts, %d lists", name, len(paths), meta.n_parts, n_lists)
    items, counts, lengths, ids, bonuses, gains = map(np.concatenate, zip(*parts, strict=True))
    starts, is_list = np.cumsum(counts) - counts, counts > 0
    kept, first = np.unique(items[is_list], return_index=True)
    if n_repeated := int(is_list.sum()) - len(kept):
        logger.info("%d lists left out: an earlier one is of the same text", n_repeated)
    return Candidates(
        items=kept,
        starts=starts[is_list][first],
        counts=counts[is_list][first],
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
        ids=ids,
        bonuses=bonuses,
        gains=gains,
    )


def _what_is_kept(lists: Lists, dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Texts, numbers of candidates and of pieces, pieces, bonuses and gains, as they lie there."""
    return (
        lists.items,
        lists.n_candidates.astype(np.int64),
        lists.candidate_lengths,
        lists.candidate_ids.astype(dtype),
        lists.scores - lists.log_probs,
        lists.gains,
    )


def _parts(directory: Path, meta: ListMeta) -> list[Path]:
    """The parts that are there."""
    paths = (part_path(directory, number) for number in range(meta.n_parts))
    return [path for path in paths if path.exists()]
