"""Scores of a model on data sets: the numbers of the model card.

    python benchmarks/quality.py --data DIR [--model DIR] [--first N] [--out results]

For every set (news, papers, commits by default) and every limit (40, 60 and 80 characters, 8
words): ROUGE with intervals, fill, complete endings, repetition, broken limits, and words, numbers
and names that the source lacks, of sumfit as it is, without constraints, with minimum Bayes risk,
with the model's own reranker if it has one, and of two baselines: the lead and greedy decoding,
both cut at a word boundary. For the Gigaword-style set: PathMAP, SeqMAP, constrained SeqMAP, MBR
and the reranker at the paper's 25 % rule, with paired intervals.

Writes ``quality.md`` and ``quality.json`` into ``--out`` and prints the Markdown.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumfit.errors import SumfitError
from sumfit.evaluation.baselines import cut_at_words, lead
from sumfit.evaluation.fidelity import Fidelity, fidelity
from sumfit.evaluation.rouge import METRICS, RougeResult, compare_rouge, rouge
from sumfit.evaluation.table import Cell, Table, render
from sumfit.length import resolve_budget
from sumfit.reproduction.baselines import profile_of
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, RunItem, find_set

SETS = ("newsapi/test", "arxiv/test", "commits/test")
GIGAWORD = "gigaword/valid"
LIMITS = (("chars", 40), ("chars", 60), ("chars", 80), ("words", 8))
UNCONSTRAINED: dict[str, Any] = {"constraints": False}
SYSTEMS: dict[str, dict[str, Any]] = {
    "sumfit": {},
    "sumfit, no constraints": UNCONSTRAINED,
    "sumfit, MBR": {"rerank": "mbr"},
    "sumfit, reranked": {"rerank": "neural"},
}
PAPER_SYSTEMS: dict[str, dict[str, Any]] = {
    "PathMAP": {"method": "pathmap", **UNCONSTRAINED},
    "SeqMAP": {"method": "seqmap", **UNCONSTRAINED},
    "SeqMAP, constrained": {"method": "seqmap"},
    "SeqMAP, constrained, MBR": {"method": "seqmap", "rerank": "mbr"},
    "SeqMAP, constrained, reranked": {"method": "seqmap", "rerank": "neural"},
}
COLUMNS = (
    "system",
    *METRICS,
    "R-Sum low",
    "R-Sum high",
    "length",
    "fill %",
    "complete %",
    "repeats %",
    "broken %",
    "empty",
    "truncated %",
    "new words %",
    "new numbers %",
    "new names %",
)


@dataclass(frozen=True)
class Scored:
    """One system on one set at one limit."""

    name: str
    rouge: RougeResult
    fidelity: Fidelity

    def row(self) -> tuple[Cell, ...]:
        """Cells of `COLUMNS`."""
        total = self.rouge.scores["R-Sum"]
        kept = self.fidelity
        return (
            self.name,
            *(self.rouge.scores[metric].value for metric in METRICS),
            total.low,
            total.high,
            kept.mean_length,
            100 * kept.fill,
            100 * kept.complete,
            100 * kept.repeated_word,
            100 * kept.violations,
            kept.n_empty,
            100 * kept.truncated,
            100 * kept.unknown_word,
            100 * kept.unsupported_number,
            100 * kept.unsupported_name,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    args = _arguments(argv)
    tables: list[Table] = []
    started = time.time()
    try:
        with ModelRunner(args.model, n_processes=args.processes) as runner:
            for name in args.sets:
                part = EvaluationSet.read(find_set(args.data, name), name=name, first=args.first)
                systems = args.systems or offered(runner, SYSTEMS)
                for unit, limit in LIMITS:
                    tables.append(limit_table(runner, part, unit, limit, systems))
                    print(tables[-1].to_text(), file=sys.stderr, flush=True)
            if args.gigaword:
                path = find_set(args.data, args.gigaword)
                part = EvaluationSet.read(path, name=args.gigaword, first=args.first)
                for mode in ("exact", "max"):
                    tables += paper_tables(runner, part, mode=mode, ratio=args.ratio)
            model_name = runner.summarizer.config.name
    except SumfitError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    text = render(tables, "markdown") + "\n"
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "quality.md").write_text(text, encoding="utf-8")
    record = {
        "model": model_name,
        "seconds": round(time.time() - started, 1),
        "tables": [table.to_dict() for table in tables],
    }
    (args.out / "quality.json").write_text(
        json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )
    print(text, end="")
    return 0


def offered(runner: ModelRunner, systems: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Names of the systems that the model can be: without a reranker of its own, not that one."""
    has_own = runner.summarizer.model.own_reranker is not None
    return [name for name in systems if has_own or systems[name].get("rerank") != "neural"]


def limit_table(
    runner: ModelRunner,
    part: EvaluationSet,
    unit: str,
    limit: int,
    systems: Sequence[str],
) -> Table:
    """Score some systems and the baselines on one set at one limit."""
    rule = f"at most {limit} {unit}"
    limits = [limit] * len(part)
    scored, failures = [], []
    for name in systems:
        items = runner.run(part.sources, max_length=limit, unit=unit, **SYSTEMS[name])
        scored.append(_score(runner, name, part, _texts(items), limits, unit, rule))
        failures += _failures(name, items)
    heads = [lead(source, limit=limit, unit=unit) for source in part.sources]
    scored.append(
        _score(
            runner,
            "lead, cut",
            part,
            [h.text for h in heads],
            limits,
            unit,
            rule,
            [h.truncated for h in heads],
        )
    )
    greedy = runner.run(
        part.sources,
        method="greedy",
        max_length=1000,
        unit=unit,
        keep_short=False,
        **UNCONSTRAINED,
    )
    failures += _failures("greedy, cut", greedy)
    cuts = [cut_at_words(item.text, limit=limit, unit=unit) for item in greedy]
    scored.append(
        _score(
            runner,
            "greedy, cut",
            part,
            [c.text for c in cuts],
            limits,
            unit,
            rule,
            [c.truncated for c in cuts],
        )
    )
    return Table(
        f"{part.name}, {rule}",
        COLUMNS,
        tuple(item.row() for item in scored),
        (
            f"`{scored[0].rouge.signature}`",
            *(_difference(one, scored[0]) for one in scored[1:]),
            *failures,
        ),
    )


def paper_tables(
    runner: ModelRunner, part: EvaluationSet, *, mode: str, ratio: float
) -> list[Table]:
    """Score the decoders at the paper's length rule, exactly or at most."""
    limits = [
        resolve_budget(ratio=ratio, ratio_rule="paper-dat", source=source).limit
        for source in part.sources
    ]
    profile = profile_of(runner.summarizer)
    rule = f"{'exactly' if mode == 'exact' else 'at most'} floor({ratio}(n+2))+1 words"
    bonus = {"bonus": 0.0} if mode == "exact" else {}  # a length that is given needs no reward
    scored, failures = [], []
    for name in offered(runner, PAPER_SYSTEMS):
        keywords = {**PAPER_SYSTEMS[name], **bonus}
        items = runner.run(
            part.sources,
            per_item={f"{mode}_words": limits},
            profile=profile,
            keep_short=False,
            **keywords,
        )
        items = _fill_in(runner, part, items, limits, {**keywords, "profile": profile})
        failures += _failures(name, items)
        scored.append(_score(runner, name, part, _texts(items), limits, "words", rule))
    base = next(item for item in scored if item.name == "SeqMAP")
    notes = [f"`{base.rouge.signature}`"]
    notes += [_difference(item, base) for item in scored if item is not base]
    notes += [_difference(later, item) for item, later in itertools.combinations(scored[2:], 2)]
    notes += failures
    rows = tuple(item.row() for item in scored)
    return [Table(f"{part.name}, {rule}, profile {profile}", COLUMNS, rows, tuple(notes))]


def _fill_in(
    runner: ModelRunner,
    part: EvaluationSet,
    items: list[RunItem],
    limits: Sequence[int],
    keywords: dict[str, Any],
) -> list[RunItem]:
    """Ask again, at most instead of exactly, for what has no output of the exact length."""
    missing = [i for i, item in enumerate(items) if not item.text]
    if not missing:
        return items
    again = runner.run(
        [part.sources[i] for i in missing],
        per_item={"max_words": [limits[i] for i in missing]},
        keep_short=False,
        **keywords,
    )
    for i, item in zip(missing, again, strict=True):
        items[i] = item
    return items


def _score(
    runner: ModelRunner,
    name: str,
    part: EvaluationSet,
    texts: Sequence[str],
    limits: Sequence[int],
    unit: str,
    rule: str,
    truncated: Sequence[bool] | None = None,
) -> Scored:
    return Scored(
        name=name,
        rouge=rouge(texts, part.references, budget_rule=rule),
        fidelity=fidelity(
            texts,
            unit=unit,
            limits=limits,
            sources=part.sources,
            truncated=truncated if truncated is not None else [False] * len(texts),
            lexicon=runner.lexicon,
        ),
    )


def _failures(name: str, items: Sequence[RunItem]) -> list[str]:
    """A line for the table where a system gave no summary for some texts."""
    reasons = [item.error for item in items if item.error]
    return [f"{name}: no summary for {len(reasons)} texts, first: {reasons[0]}"] if reasons else []


def _texts(items: Sequence[RunItem]) -> list[str]:
    return [item.text for item in items]


def _difference(one: Scored, base: Scored) -> str:
    paired = compare_rouge(one.rouge, base.rouge)["R-Sum"]
    return (
        f"{one.name} minus {base.name}: R-Sum {paired.delta:+.2f} "
        f"({paired.low:+.2f} to {paired.high:+.2f}, p = {paired.p_value:.3f})"
    )


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the sets")
    parser.add_argument("--model", type=Path, default=None, help="model directory")
    parser.add_argument("--sets", nargs="*", default=list(SETS), help="such as newsapi/test")
    parser.add_argument("--systems", nargs="*", choices=list(SYSTEMS))
    parser.add_argument("--gigaword", default=GIGAWORD, help="set in Gigaword form; '' for none")
    parser.add_argument("--ratio", type=float, default=0.25, help="of the Gigaword-style rule")
    parser.add_argument("--first", type=int, default=1000, help="items of each set")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("quality-results"))
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main())
