"""Tables of ROUGE scores as the paper has them: ours beside the paper's, and what is to be known.

Owns columns and notes. Rows that need a baseline or reranker that is not at hand are left out by
name in the notes; any row can be filled from a file of summaries instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sumfit.evaluation.fidelity import fidelity
from sumfit.evaluation.rouge import (
    METRICS,
    References,
    RougeOptions,
    RougeResult,
    compare_rouge,
    rouge,
    rouge_items,
)
from sumfit.evaluation.table import Cell, Table
from sumfit.reproduction import paper
from sumfit.reproduction.baselines import ROWS
from sumfit.reproduction.paper import PaperRow
from sumfit.reproduction.rows import Reproduction, Row

__all__ = ["filled", "left_out", "overlap_table"]

_COLUMNS = (
    "model",
    "% truncate",
    *METRICS,
    "R-Sum low",
    "R-Sum high",
    "length",
    "broken %",
)
_UNKNOWN = re.compile(r"(?:^|\s)(?:UNK|<unk>)(?=\s|$)")
_PAPER = (*(f"paper {metric}" for metric in METRICS), "paper % truncate", "paper length")


def overlap_table(
    made: Reproduction,
    title: str,
    ratio: float,
    rows: Mapping[str, PaperRow | None],
    options: RougeOptions,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    beside: Mapping[str, RougeOptions] | None = None,
) -> Table:
    """Score systems and lay their figures out beside the paper's.

    Args:
        made: What to make the rows from.
        title: Title of the table.
        ratio: Length of a summary as a share of its source's words.
        rows: Names of the systems, each with the paper's figures if it has any.
        options: How ROUGE counts.
        settings: Keywords of the rows that are no usual system.
        beside: Columns behind the paper's, each R-Sum by settings that the paper's figures are
            not comparable with.

    Returns:
        The table.
    """
    beside = beside or {}
    rule = f"exactly floor({ratio:g}(n+2))+1 words, ending {made.ending}"
    limits = made.limits(ratio)
    results: dict[str, RougeResult] = {}
    shown, missing, shorter = [], [], []
    has_lengths = any(figures and figures.length is not None for figures in rows.values())
    of_paper = _PAPER if has_lengths else _PAPER[: len(METRICS)]
    for name, figures in rows.items():
        found = _found(made, ratio, name, (settings or {}).get(name))
        if found is None:
            missing.append(name)
            continue
        if found.n_shorter:
            shorter.append(f"{name} {found.n_shorter}")
        result = rouge(found.texts, made.part.references, options=options, budget_rule=rule)
        results[name] = result
        others = _sums(found.texts, made.part.references, beside)
        cells = _cells(found, limits, result)
        shown.append((name, *cells, *_of_paper(figures)[: len(of_paper)], *others))
    notes = (*_notes(made, results, shorter), *_differences(results), *left_out(missing))
    return Table(title, (*_COLUMNS, *of_paper, *beside), tuple(shown), notes)


def _sums(
    texts: Sequence[str], references: References, beside: Mapping[str, RougeOptions]
) -> tuple[float, ...]:
    """R-Sum by each of some other settings."""
    total = METRICS.index("R-Sum")
    return tuple(
        float(rouge_items(texts, references, options=options)[:, total].mean())
        for options in beside.values()
    )


def _found(
    made: Reproduction, ratio: float, name: str, own: Mapping[str, Any] | None
) -> Row | None:
    """A system's summaries; ``None`` if what it needs is not at hand."""
    if own is None:
        return made.row(name, ratio)
    if own.get("rerank", "") is None:
        return None
    return Row.of(made.run(ratio, own))


def _of_paper(figures: PaperRow | None) -> tuple[Cell, ...]:
    if figures is None:
        return (None,) * len(_PAPER)
    return (*figures.rouge, figures.truncated, figures.length)


def _cells(found: Row, limits: Sequence[int], result: RougeResult) -> tuple[Cell, ...]:
    kept = fidelity(found.texts, limits=limits, truncated=found.truncated)
    total = result.scores["R-Sum"]
    return (
        100 * kept.truncated,
        *(result.scores[metric].value for metric in METRICS),
        total.low,
        total.high,
        kept.mean_length,
        100 * kept.violations,
    )


def _notes(
    made: Reproduction, results: Mapping[str, RougeResult], shorter: Sequence[str]
) -> Iterator[str]:
    """The signature, and which rows keep the length in another way."""
    if results:
        yield f"`{next(iter(results.values())).signature}`"
    if soft := [name for name in results if name in filled(made) and not ROWS[name].is_exact]:
        yield (
            f"{'; '.join(soft)}: no length control, so at most that many words, cut after the last "
            "whole word that fits (% truncate)"
        )
    yield from _without_unknown(made, results)
    if shorter:
        yield (
            f"of {len(made.part)} texts, so many have no output of exactly the length and take the "
            f"best shorter one: {'; '.join(shorter)}"
        )


def _without_unknown(made: Reproduction, results: Mapping[str, RougeResult]) -> Iterator[str]:
    """How many sources have a mark in the place of a rare word, and R-Sum without them."""
    whole = np.array([_UNKNOWN.search(source) is None for source in made.part.sources])
    if results and 0 < whole.sum() < len(whole):
        total = METRICS.index("R-Sum")
        sums = (f"{name} {r.items[whole, total].mean():.2f}" for name, r in results.items())
        yield (
            f"{(~whole).sum():,} of {len(whole):,} sources have UNK or <unk> where a rare word "
            f"stood; R-Sum without them: {'; '.join(sums)}"
        )


def _differences(results: Mapping[str, RougeResult]) -> Iterator[str]:
    """What each system gains over PathMAP, or else over the paper's search without a reranker."""
    base_name = paper.PATHMAP if paper.PATHMAP in results else paper.NO_RERANKER
    base = results.get(base_name)
    for name, result in results.items():
        if base is not None and result is not base:
            paired = compare_rouge(result, base)["R-Sum"]
            yield (
                f"{name} minus {base_name}: R-Sum {paired.delta:+.2f} "
                f"({paired.low:+.2f} to {paired.high:+.2f}, p = {paired.p_value:.3f})"
            )


def left_out(names: Sequence[str]) -> tuple[str, ...]:
    """Say which rows are missing, and how to fill them.

    Args:
        names: Names of the rows.

    Returns:
        One note, or none.
    """
    if not names:
        return ()
    return (
        f"left out, each needs a trained baseline or reranker: {'; '.join(names)} "
        "(give its directory with --baseline or --reranker, or summaries with --system NAME=FILE)",
    )


def filled(made: Reproduction) -> list[str]:
    """Name the rows that the baselines at hand fill.

    Args:
        made: What the rows are made from.

    Returns:
        Names of rows.
    """
    return [name for name, row in ROWS.items() if row.system in made.baselines]
