"""Candidates of a batch against a plain loop over the lists."""

from __future__ import annotations

import numpy as np
import pytest

from sumfit.data.candidates import Candidates
from sumfit.data.flat import gather_rows


def made_up(n_lists: int = 40, seed: int = 0) -> Candidates:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 6, n_lists)
    lengths = rng.integers(1, 9, counts.sum())
    order = rng.permutation(n_lists)  # texts lie in another order than their candidates
    return Candidates(
        items=np.sort(rng.choice(1000, n_lists, replace=False)),
        starts=(np.cumsum(counts) - counts)[order],
        counts=counts[order],
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        ids=rng.integers(4, 900, lengths.sum()).astype("<u2"),
        bonuses=rng.random(counts.sum(), dtype=np.float32),
        gains=rng.random(counts.sum(), dtype=np.float32),
    )


@pytest.mark.parametrize("multiple", [1, 4])
def test_a_batch_holds_what_a_loop_over_the_lists_finds(multiple: int) -> None:
    lists = made_up()
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows = rng.permutation(len(lists.items))[: rng.integers(1, 12)]
        longest = rng.integers(2, 10, len(rows))
        batch = lists.gather(lists.items[rows], longest=longest, multiple=multiple)
        n_most = int(lists.counts[rows].max())
        assert batch.ids.shape[:2] == batch.n_pieces.shape == (len(rows), n_most)
        assert batch.ids.shape[2] % multiple == 0
        for place, row in enumerate(rows):
            for k in range(n_most):
                ids, bonus, gain = np.zeros(0), 0.0, 0.0
                if k < lists.counts[row]:
                    number = lists.starts[row] + k
                    found = lists.ids[lists.offsets[number] : lists.offsets[number + 1]]
                    if len(found) <= longest[place]:
                        ids, bonus, gain = found, lists.bonuses[number], lists.gains[number]
                assert batch.n_pieces[place, k] == len(ids)
                assert batch.ids[place, k, : len(ids)].tolist() == ids.tolist()
                assert not batch.ids[place, k, len(ids) :].any()
                assert batch.bonuses[place, k] == bonus
                assert batch.gains[place, k] == gain
    assert batch.bonuses.dtype == batch.gains.dtype == np.float32


def test_rows_are_padded_to_a_multiple_and_never_have_no_width() -> None:
    flat = np.arange(10, dtype=np.uint16)
    rows = gather_rows(flat, np.array([0, 7]), np.array([2, 3]), multiple=4, pad=9)
    assert rows.tolist() == [[0, 1, 9, 9], [7, 8, 9, 9]]
    assert gather_rows(flat, np.array([3]), np.array([0])).tolist() == [[0]]
