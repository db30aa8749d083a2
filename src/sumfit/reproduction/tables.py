"""The paper's tables made again: which runs each needs, and our figures beside the paper's.

Owns the rows. Does not own how a table of ROUGE scores is laid out (`sumfit.reproduction.overlap`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sumfit.errors import ConfigError
from sumfit.evaluation.alignment import Aligner
from sumfit.evaluation.judge import Pair, judge
from sumfit.evaluation.novelty import novelty
from sumfit.evaluation.rouge import RougeOptions
from sumfit.evaluation.table import Cell, Table
from sumfit.pipeline import Summarizer
from sumfit.reproduction import paper
from sumfit.reproduction.baselines import CTC_SUM, ROWS, profile_of
from sumfit.reproduction.overlap import filled, left_out, overlap_table
from sumfit.reproduction.paper import PaperRow
from sumfit.reproduction.rows import CONSTRAINED, EXACT, MBR, NEURAL, OURS, Reproduction
from sumfit.reproduction.speed import machine, measure_speed

if TYPE_CHECKING:
    from sumfit.baselines.base import Baseline

__all__ = ["MAKERS", "choose_tables", "count_summaries", "planned"]

_TIMED = 100  # texts of Table 6
_NOVEL = (paper.CTC, paper.PATHMAP, paper.SEQMAP, paper.NO_RERANKER, EXACT, CONSTRAINED)
_VARIED = {"table7": ("K", "beam_size"), "table8": ("V", "words_per_vertex")}
_SEVERAL = (
    "R-1 to R-Sum are recall at 75 bytes averaged over the references, as DUC reports; the last "
    "two columns take the best reference of each leave-one-out set and of all, are higher by "
    "construction, and are not comparable with the paper's figures. The paper does not say how it "
    "combined the references"
)
_Rows = dict[str, PaperRow | None]
_Settings = dict[str, Mapping[str, Any]]


def table1(made: Reproduction) -> list[Table]:
    """Make Table 1: seven systems at three ratios.

    Args:
        made: What to make it from.

    Returns:
        One table per ratio.
    """
    extra = _extra(made)
    return [
        overlap_table(
            made,
            f"Table 1, {ratio * 100:g} %",
            ratio,
            {**rows, **dict.fromkeys(extra)},
            RougeOptions(),
        )
        for ratio, rows in paper.GIGAWORD.items()
    ]


def table2(made: Reproduction) -> list[Table]:
    """Make Table 2: DUC 2004, recall at 75 bytes averaged over the references.

    Jackknife and best of the references stand behind the paper's figures, under their names: they
    are higher by construction and no match for figures that were averaged.

    Args:
        made: What to make it from; ``--data`` must name DUC.

    Returns:
        The table.
    """
    rows = {**paper.DUC, **dict.fromkeys(_extra(made))}
    beside: dict[str, RougeOptions] = {}
    notes: tuple[str, ...] = ()
    if any(len(texts) > 1 for texts in made.part.references):
        beside = {
            "R-Sum, jackknife": RougeOptions.duc("jackknife"),
            "R-Sum, best reference": RougeOptions.duc("best"),
        }
        notes = (_SEVERAL,)
    made_table = overlap_table(
        made, "Table 2, DUC 2004, 20 %", 0.20, rows, RougeOptions.duc(), beside=beside
    )
    return [replace(made_table, notes=(*made_table.notes[:1], *notes, *made_table.notes[1:]))]


def table4(made: Reproduction) -> list[Table]:
    """Make Table 4: a language model compares SeqMAP with each system.

    Args:
        made: What to make it from; needs an endpoint.

    Returns:
        The table.

    Raises:
        ConfigError: If there is no endpoint.
    """
    if made.endpoint is None:
        raise ConfigError("table4 asks a language model; give --endpoint and --judge-model")
    name = _judged(made)
    ours = made.row(name, 0.25)
    assert ours is not None
    rows: list[tuple[Cell, ...]] = []
    missing = []
    for other, figures in paper.JUDGED.items():
        theirs = made.row(other, 0.25)
        if theirs is None:
            missing.append(other)
            continue
        triples = zip(made.part.sources, ours.texts, theirs.texts, strict=True)
        result = judge([Pair(*triple) for triple in triples], made.endpoint)
        rates = tuple(100 * result.rate(outcome) for outcome in ("win", "loss", "tie"))
        rows.append((f"{name} vs. {other}", *rates, *figures))
    columns = ("pair", "win, %", "loss, %", "tie, %", "paper win", "paper loss", "paper tie")
    notes = (
        f"judge: {made.endpoint.model}, the paper's was gpt-4-0125-preview; n: {len(made.part)}",
    )
    return [Table("Table 4, 25 %", columns, tuple(rows), (*notes, *left_out(missing)))]


def table5(made: Reproduction) -> list[Table]:
    """Make Table 5: word novelty and reordering degree.

    Args:
        made: What to make it from.

    Returns:
        The table.
    """
    sources = [source.lower().split() for source in made.part.sources]
    systems: dict[str, list[list[str]]] = {}
    missing = []
    for name in _with_filled(_NOVEL, made):
        found = made.row(name, 0.25)
        if found is None:
            missing.append(name)
        else:
            systems[name] = [text.lower().split() for text in found.texts]
    systems["Human Reference"] = [item[0].lower().split() for item in made.part.references]
    pooled = [words for texts in systems.values() for words in texts]
    aligner = Aligner.fit(sources * len(systems), pooled)
    rows: list[tuple[Cell, ...]] = []
    for name, texts in systems.items():
        found_novelty = novelty(sources, texts, aligner=aligner)
        figures = paper.NOVELTY.get(name, (None, None))
        values = (100 * found_novelty.word_novelty, 100 * found_novelty.reordering)
        rows.append((name, *values, *figures))
    columns = ("model", "novelty %", "reordering %", "paper novelty", "paper reordering")
    notes = (
        "alignment: IBM model 1 with a diagonal prior, fitted to all systems together; the paper "
        "used FastAlign, so compare rows, not columns",
        f"n: {len(made.part)}; words are split at white space and lower-cased",
    )
    return [Table("Table 5, 25 %", columns, tuple(rows), (*notes, *left_out(missing)))]


def table6(made: Reproduction) -> list[Table]:
    """Make Table 6: sentences and words a second, one text at a time.

    Args:
        made: What to make it from.

    Returns:
        The table.
    """
    texts = [made.part.sources[i % len(made.part)] for i in range(_TIMED)]
    rows: list[tuple[Cell, ...]] = []
    missing = []
    for name in _with_filled((*paper.SPEED, EXACT, CONSTRAINED, MBR, NEURAL), made):
        fit: Summarizer | Baseline = made.runner.summarizer
        backend, profile = made.runner.summarizer.backend.name, made.profile
        keywords = made.keywords(name)
        if name in filled(made):
            fit = made.baselines[ROWS[name].system]
            backend, profile = fit.name, profile_of(fit)
            keywords = dict(ROWS[name].keywords)
        elif not keywords:
            missing.append(name)
            continue
        speed = measure_speed(
            fit,
            texts,
            mode="one",
            ratio=0.25,
            ratio_rule="paper-dat",
            profile=profile,
            keep_short=False,
            **keywords,
        )
        figures = paper.SPEED.get(name, (None, None))
        rows.append((name, backend, speed.sentences_per_s, speed.words_per_s, *figures))
    columns = ("model", "backend", "sentences/s", "words/s", "paper sentences/s", "paper words/s")
    note = f"{_TIMED} texts after warm-up, {machine()}"
    return [Table("Table 6", columns, tuple(rows), (note, *left_out(missing)))]


def _ablation(name: str) -> Callable[[Reproduction], list[Table]]:
    def make(made: Reproduction) -> list[Table]:
        """Make the table.

        Args:
            made: What to make it from.

        Returns:
            The table.
        """
        rows, settings = _ablated(made, name)
        title = f"Table {name[-1]}, {paper.TABLES[name]}, 25 %"
        return [overlap_table(made, title, 0.25, rows, RougeOptions(), settings)]

    return make


def _ablated(made: Reproduction, name: str) -> tuple[_Rows, _Settings]:
    """Rows of table 7, 8 or 9, and the keywords of those that are no usual system."""
    settings: _Settings = {}
    if name == "table9":
        settings = dict(made.ablation())
        rows = {paper.NO_RERANKER: None, **paper.ABLATIONS[name]}
        return rows | {row: None for row in settings if row not in rows}, settings
    letter, option = _VARIED[name]
    for row in paper.ABLATIONS[name]:
        label, found, value = row.rpartition(f", {letter}=")
        if found:
            keywords = {**OURS[paper.NO_RERANKER], option: int(value)}
            if label == paper.SEQMAP:
                # One trained for this very list, or the paper's.
                keywords["rerank"] = made.rerankers.get(f"{letter}={value}", made.reranker)
            settings[row] = keywords
    return {**paper.ABLATIONS[name], EXACT: None}, settings


def table9(made: Reproduction) -> list[Table]:
    """Make Table 9: parts of the neural reranker, from rerankers or files of summaries.

    ``K`` is that of each reranker. The row without a reranker is with the paper's ``K`` of 20.

    Args:
        made: What to make it from.

    Returns:
        The table.
    """
    rows, settings = _ablated(made, "table9")
    title = f"Table 9, {paper.TABLES['table9']}, 25 %, V = 5 (the paper's K: 10)"
    return [overlap_table(made, title, 0.25, rows, RougeOptions(), settings)]


MAKERS: dict[str, Callable[[Reproduction], list[Table]]] = {
    "table1": table1,
    "table2": table2,
    "table4": table4,
    "table5": table5,
    "table6": table6,
    "table7": _ablation("table7"),
    "table8": _ablation("table8"),
    "table9": table9,
}


def planned(name: str, made: Reproduction) -> set[str]:
    """Say which runs over the whole set a table needs, for a count of the work.

    Args:
        name: The table.
        made: What to make it from.

    Returns:
        Names of the runs, see `Reproduction.run_of`; none for Table 6, which times a few texts.
    """
    if name in paper.ABLATIONS:
        rows, settings = _ablated(made, name)
        runs = {made.run_of(row, 0.25, settings.get(row)) for row in rows}
    elif name == "table6":
        return set()
    else:
        wanted: dict[float, tuple[str, ...]] = {
            "table1": lambda: {r: (*rows, *_extra(made)) for r, rows in paper.GIGAWORD.items()},
            "table2": lambda: {0.20: (*paper.DUC, *_extra(made))},
            "table4": lambda: {0.25: (_judged(made), *paper.JUDGED)},
            "table5": lambda: {0.25: _with_filled(_NOVEL, made)},
        }[name]()
        runs = {made.run_of(row, ratio) for ratio, rows in wanted.items() for row in rows}
    return {run for run in runs if run is not None}


def _judged(made: Reproduction) -> str:
    """The row of SeqMAP that Table 4 compares with the others."""
    has_own = made.run_of(paper.SEQMAP, 0.25) or made.row(paper.SEQMAP, 0.25)
    return paper.SEQMAP if has_own else paper.NO_RERANKER


def _with_filled(names: tuple[str, ...], made: Reproduction) -> tuple[str, ...]:
    """Rows, and behind them those of the baselines at hand."""
    return (*names, *(name for name in filled(made) if name not in names))


def _extra(made: Reproduction) -> tuple[str, ...]:
    """Rows of ours that the paper does not have."""
    summed = (CTC_SUM,) if CTC_SUM in filled(made) else ()
    return (*summed, EXACT, CONSTRAINED, MBR, NEURAL)


def choose_tables(table: str | None, *, has_judge: bool, has_duc: bool) -> list[str]:
    """Choose the tables to make.

    Args:
        table: Its name, or ``all`` for all that what is at hand allows.
        has_judge: Whether there is a judge of pairs.
        has_duc: Whether the test set of Table 2 is there.

    Returns:
        Names in `MAKERS`.

    Raises:
        ConfigError: If there is no such table.
    """
    if table != "all":
        if table not in MAKERS:
            raise ConfigError(f"the table must be one of {', '.join(MAKERS)} or all, was {table!r}")
        return [table]
    missing = ([] if has_judge else ["table4"]) + ([] if has_duc else ["table2"])
    return [name for name in MAKERS if name not in missing]


def count_summaries(origins: Mapping[str, Reproduction]) -> int:
    """Count the summaries that tables need; a run that several of them share is made once.

    Args:
        origins: What each table is made from.

    Returns:
        The number.
    """
    runs = {(id(made), run) for name, made in origins.items() for run in planned(name, made)}
    n_texts = {id(made): len(made.part) for made in origins.values()}
    return sum(n_texts[number] for number, _ in runs)
