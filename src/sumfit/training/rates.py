"""How many pieces summaries have per unit of length, counted in the training targets.

Owns the statistic by which a limit in words or characters becomes one in pieces, for models that
are told the limit. Does not own buckets (`sumfit.models.config`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sumfit.data.corpus import PackedCorpus
from sumfit.text import Tokenizer

__all__ = ["pieces_per_unit"]

_MOST_TARGETS = 10_000  # of each profile: the ratio is then known to a few thousandths


def pieces_per_unit(
    corpus: PackedCorpus, tokenizer: Tokenizer, items: npt.NDArray[np.int64]
) -> dict[str, dict[str, float]]:
    """Divide the pieces of targets by their lengths in every unit.

    Args:
        corpus: Training split.
        tokenizer: Its tokenizer.
        items: Places of the pairs that are trained on.

    Returns:
        Pieces per unit by text profile and unit; no entry for ``tokens``.
    """
    # Only here: length tables are many imports for a run without limit buckets.
    from sumfit.length.units import UNITS, measure

    units = [unit for unit in UNITS.values() if unit.count is not None]
    rates = {}
    for profile in sorted({entry.profile for entry in corpus.meta.sets}):
        is_own = np.array([entry.profile == profile for entry in corpus.meta.sets])
        own = items[is_own[corpus.set_ids[items]]]
        if not len(own):
            continue
        own = own[np.linspace(0, len(own) - 1, min(len(own), _MOST_TARGETS)).astype(np.int64)]
        targets = [corpus.item(int(place))[1] for place in own]
        texts = [tokenizer.decode(target.tolist()) for target in targets]
        n_pieces = sum(map(len, targets))
        rates[profile] = {
            unit.name: round(n_pieces / max(1, sum(measure(text, unit) for text in texts)), 4)
            for unit in units
        }
    return rates
