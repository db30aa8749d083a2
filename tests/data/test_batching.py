from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumfit.data.batching import (
    BatchOptions,
    build_batch,
    merge_plans,
    plan_epoch,
    usable_items,
)
from sumfit.data.corpus import CORPUS_FORMAT, CorpusMeta, PackedCorpus, PackedSet
from sumfit.data.denoising import DenoiseOptions, denoise, n_removed
from sumfit.errors import ConfigError

SETS = (PackedSet("a", "natural", 1.0), PackedSet("b", "gigaword", 2.5))
OPTIONS = BatchOptions(batch_tokens=600, min_vertices=12, max_vertices=40, max_source=48)


def make_corpus(n_pairs=300, seed=0):
    rng = np.random.default_rng(seed)
    n_source = rng.integers(1, 60, n_pairs)
    n_target = rng.integers(1, 11, n_pairs)
    meta = CorpusMeta(CORPUS_FORMAT, "x", 1000, 48, SETS)
    return PackedCorpus(
        meta,
        rng.integers(4, 1000, n_source.sum()).astype("<u2"),
        np.concatenate([[0], np.cumsum(n_source)]),
        rng.integers(4, 1000, n_target.sum()).astype("<u2"),
        np.concatenate([[0], np.cumsum(n_target)]),
        rng.integers(0, 2, n_pairs).astype(np.uint16),
    )


def plan(corpus, weights=None, epoch=0, **options):
    items = np.arange(len(corpus))
    weights = np.ones(len(corpus)) if weights is None else weights
    return plan_epoch(corpus, OPTIONS, items=items, weights=weights, seed=1, epoch=epoch, **options)


def test_an_epoch_takes_every_pair_as_often_as_its_weight_says():
    corpus = make_corpus(400)
    weights = np.where(corpus.set_ids == 0, 1.0, 2.5)
    counts = np.bincount(plan(corpus, weights).items, minlength=400)
    assert (counts[corpus.set_ids == 0] == 1).all()
    often = counts[corpus.set_ids == 1]
    assert set(often) == {2, 3}
    assert abs(often.mean() - 2.5) < 0.15


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_no_batch_costs_more_than_its_budget_and_padding_is_as_promised(seed):
    corpus = make_corpus(120, seed)
    epoch = plan(corpus)
    for index in range(len(epoch)):
        items = epoch.batch_items(index)
        batch = build_batch(corpus, items, OPTIONS)
        n_items, n_source = batch.source_ids.shape
        n_vertices = batch.vertex_mask.shape[1]
        assert n_items * (n_source + n_vertices + n_vertices**2 / 128) <= OPTIONS.batch_tokens
        assert n_source % 8 == 0
        assert n_vertices % 8 == 0
        assert batch.target_ids.shape[1] % 4 == 0
        assert epoch.n_targets[index] == (batch.target_ids != 0).sum()


def test_a_batch_holds_the_pairs_it_names():
    corpus = make_corpus()
    items = np.array([5, 17, 250])
    batch = build_batch(corpus, items, OPTIONS)
    for row, place in enumerate(items):
        source, target = corpus.item(place)
        source = source[:48]
        assert batch.source_ids[row][: len(source)].tolist() == source.tolist()
        assert not batch.source_ids[row][len(source) :].any()
        assert batch.target_ids[row][batch.target_ids[row] != 0].tolist() == target.tolist()
        n_vertices = min(max(len(source), 12), 40)
        assert batch.n_vertices[row] == n_vertices
        assert batch.vertex_mask[row].sum() == n_vertices


def test_the_graph_of_a_text_does_not_depend_on_its_batch():
    corpus = make_corpus()
    alone = build_batch(corpus, np.array([3]), OPTIONS)
    together = build_batch(corpus, np.array([9, 3, 40]), OPTIONS)
    assert alone.n_vertices[0] == together.n_vertices[1]


def test_plans_are_the_same_again_and_differ_between_epochs():
    corpus = make_corpus()
    first, again, other = plan(corpus), plan(corpus), plan(corpus, epoch=1)
    assert (first.items == again.items).all()
    assert (first.bounds == again.bounds).all()
    assert not np.array_equal(first.items, other.items)


def test_merged_plans_hold_the_batches_of_both():
    corpus = make_corpus()
    options = DenoiseOptions()
    one, two = plan(corpus), plan(corpus, denoising=options)
    both = merge_plans(one, two, seed=1, epoch=0)
    assert len(both) == len(one) + len(two)
    assert both.is_denoising.sum() == len(two)
    kept = [both.batch_items(i).tolist() for i in range(len(both)) if not both.is_denoising[i]]
    assert sorted(kept) == sorted(one.batch_items(i).tolist() for i in range(len(one)))
    assert both.n_targets[both.is_denoising].sum() == two.n_targets.sum()


def test_the_last_step_of_an_epoch_is_filled_up_with_its_first_batches():
    epoch = plan(make_corpus())
    group = len(epoch) - 1
    assert epoch.n_steps(group) == 2
    assert epoch.batch_items(len(epoch)).tolist() == epoch.batch_items(0).tolist()
    expected = epoch.n_targets[-1] + epoch.n_targets[: group - 1].sum()
    assert epoch.step_targets(1, group) == expected


def test_pairs_that_the_graph_cannot_hold_are_counted_with_the_limit():
    corpus = make_corpus()
    small = BatchOptions(min_vertices=6, max_vertices=6)
    items, dropped = usable_items(corpus, small, profiles=["gigaword"])
    assert (corpus.target_lengths[items] <= 4).all()
    assert (corpus.set_ids[items] == 1).all()
    assert dropped["of another text profile"] == (corpus.set_ids == 0).sum()
    assert (
        dropped["summary longer than the graph of its source allows (at most 4 pieces)"]
        == ((corpus.target_lengths > 4) & (corpus.set_ids == 1)).sum()
    )


def test_impossible_batches_are_refused():
    corpus = make_corpus()
    tight = BatchOptions(batch_tokens=20, max_source=48, min_vertices=12, max_vertices=40)
    items, ones = np.arange(len(corpus)), np.ones(len(corpus))
    with pytest.raises(ConfigError, match="one pair of the longest source costs 100 tokens"):
        plan_epoch(corpus, tight, items=items, weights=ones, seed=1, epoch=0)
    with pytest.raises(ConfigError, match="no usable pair"):
        plan_epoch(corpus, OPTIONS, items=items, weights=0 * ones, seed=1, epoch=0)


@given(st.integers(0, 10_000), st.floats(0.05, 0.6), st.floats(1, 9))
@settings(max_examples=50, deadline=None)
def test_a_corrupted_text_with_its_spans_put_back_is_the_text(seed, rate, mean_span):
    rng = np.random.default_rng(seed)
    options = DenoiseOptions(rate=rate, mean_span=mean_span, max_target=20)
    n_source = rng.integers(1, 40, 6)
    source = np.where(np.arange(40) < n_source[:, None], rng.integers(4, 99, (6, 40)), 0)
    corrupted, removed = denoise(source, n_source, options, rng)
    assert ((removed != 0).sum(axis=1) == n_removed(n_source, options)).all()
    for row in range(6):
        text = source[row, : n_source[row]].tolist()
        spans = removed[row][removed[row] != 0].tolist()
        kept = corrupted[row][corrupted[row] != 0].tolist()
        assert fits(kept, spans, text)


def fits(kept, spans, text):
    """Whether some filling of the masks, in order, with at least a piece each, gives the text."""
    if not kept:
        return not spans and not text
    if kept[0] != 3:
        return bool(text) and kept[0] == text[0] and fits(kept[1:], spans, text[1:])
    return any(
        spans[:n] == text[:n] and fits(kept[1:], spans[n:], text[n:])
        for n in range(1, len(spans) + 1)
    )


def test_a_stream_may_use_a_seeded_part_of_the_pairs():
    from sumfit.training.loader import BatchStream

    corpus = make_corpus(300)
    whole = BatchStream(corpus, OPTIONS, seed=1)
    part, again, other = (
        BatchStream(corpus, OPTIONS, seed=seed, max_pairs=50) for seed in (1, 1, 2)
    )
    assert len(part.items) == 50
    assert set(part.items) < set(whole.items)
    assert (part.items == again.items).all()
    assert (part.items != other.items).any()
    assert part.dropped["not drawn (max_pairs)"] == len(whole.items) - 50
    assert part.fingerprint == again.fingerprint != whole.fingerprint
    all_of_them = BatchStream(corpus, OPTIONS, seed=1, max_pairs=1000)
    assert (all_of_them.items == whole.items).all()
    assert all_of_them.fingerprint == whole.fingerprint  # nothing was drawn


def test_a_stream_is_known_by_the_pairs_that_were_drawn():
    """Else a run that was begun with other pairs would take up its place among these."""
    from sumfit.training.loader import BatchStream

    corpus = make_corpus(300)
    part = BatchStream(corpus, OPTIONS, seed=1, max_pairs=50)
    before = part.fingerprint
    part.items = part.items[::-1].copy()
    assert part.fingerprint != before


def test_a_smaller_part_of_the_pairs_lies_in_a_larger_one():
    from sumfit.training.loader import BatchStream

    corpus = make_corpus(300)
    parts = [
        set(BatchStream(corpus, OPTIONS, seed=1, max_pairs=n).items.tolist())
        for n in (20, 75, 150, 0)
    ]
    assert parts[0] < parts[1] < parts[2] < parts[3]
