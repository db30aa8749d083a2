"""``sumfit tune``: fit the length bonus and the MBR settings, and store them in the model."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from sumfit.errors import ConfigError, ModelFormatError
from sumfit.evaluation.rouge import rouge_items
from sumfit.evaluation.table import Table, render
from sumfit.evaluation.tuning import BonusPoint, choose_bonus, measure_bonus
from sumfit.jobs.progress import Progress
from sumfit.length import Unit, get_unit
from sumfit.models.manifest import MANIFEST, write_manifest
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, find_set
from sumfit.rerank import GraphMBRReranker
from sumfit.runtime.directory import DEFAULT_MODEL

__all__ = ["tune"]

_LIMITS = {"words": (8, 12), "chars": (40, 60, 80), "tokens": (10, 16)}
_BONUSES = {  # nats per unit
    "words": (0.0, 0.5, 1.0, 1.5, 2.0, 2.5),
    "chars": (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35),
    "tokens": (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5),
}
_LIKE_CHARS = ("bytes", "graphemes", "cells", "utf16", "tweet", "mastodon", "sms")
_WEIGHTS = (10.0, 20.0, 30.0, 50.0, 70.0, 100.0, 150.0)


def tune(
    model: Annotated[Path, typer.Argument(help="Model directory; its config.json is rewritten")],
    data: Annotated[Path, typer.Option("--data", "-d", help="Directory of the validation sets")],
    sets: Annotated[
        list[str], typer.Option("--set", "-s", help="Set below --data, such as newsapi/valid")
    ],
    first: Annotated[int, typer.Option(help="Items of each set", min=1)] = 300,
    bonuses: Annotated[
        str | None,
        typer.Option(
            help="Bonuses to try, nats per unit of the limit, with commas between; "
            "a grid for each unit if not given"
        ),
    ] = None,
    units: Annotated[str, typer.Option(help="Units to tune")] = "chars,words,tokens",
    mbr: Annotated[bool, typer.Option(help="Tune the weight of MBR too")] = True,
    mbr_limit: Annotated[int, typer.Option(help="Limit in characters for MBR")] = 60,
    processes: Annotated[int | None, typer.Option(help="Processes; one per processor")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change no file")] = False,
    format: Annotated[
        Literal["text", "markdown", "json"], typer.Option(help="Output format")
    ] = "text",
) -> None:
    """Tune the length bonus of each unit and the weight of MBR on validation data."""
    if not dry_run:
        _check_own(model)
    grids = _grids(units, bonuses)
    pairs = [EvaluationSet.read(find_set(data, name), name=name, first=first) for name in sets]
    tables, chosen = [], {}
    weight: float | None = None
    shown = _progress(pairs, grids, mbr=mbr)
    runs = ModelRunner(model, n_processes=processes, on_progress=shown.add)
    with contextlib.closing(shown), runs as runner:
        for unit, grid in grids.items():
            points = [_bonus_point(runner, pairs, unit, bonus) for bonus in grid]
            pick = choose_bonus(points)
            chosen[unit] = pick.bonus
            tables.append(_bonus_table(unit, points, pick))
        if mbr:
            by_weight = [(_weight_score(runner, pairs, mbr_limit, one), -one) for one in _WEIGHTS]
            weight = -max(by_weight)[1]
            tables.append(_weight_table(by_weight, weight))
    if not dry_run:
        store(model, chosen, weight)
    typer.echo(render(tables, format))


def _grids(units: str, bonuses: str | None) -> dict[str, Sequence[float]]:
    """The bonuses to try for each unit."""
    values = None if bonuses is None else _numbers(bonuses)
    return {unit: values or _BONUSES[unit] for unit in _units(units)}


def _progress(
    pairs: Sequence[EvaluationSet], grids: dict[str, Sequence[float]], *, mbr: bool
) -> Progress:
    """Counts the summaries that all settings together take; shown on a terminal alone."""
    n_runs = sum(len(_LIMITS[unit]) * len(grid) for unit, grid in grids.items())
    if mbr:
        n_runs += len(_WEIGHTS)
    total = n_runs * sum(map(len, pairs))
    return Progress(total, what="summaries", is_quiet=not sys.stderr.isatty())


def _units(text: str) -> list[str]:
    wanted = [unit.strip() for unit in text.split(",") if unit.strip()]
    unknown = [unit for unit in wanted if unit not in _LIMITS]
    if unknown:
        raise ConfigError(f"units must be among {', '.join(_LIMITS)}, was {unknown[0]!r}")
    return wanted


def _check_own(model: Path) -> None:
    """Raise for the embedded model, which the caller may not rewrite."""
    if str(model) == DEFAULT_MODEL and not model.exists():
        raise ConfigError(
            "the embedded model is not rewritten; copy it with sumfit export default -o DIR and "
            "tune that, or use --dry-run"
        )


def store(
    model: Path,
    bonus: dict[str, float],
    weight: float | None = None,
) -> None:
    """Write tuned values into a model's ``config.json``, all or nothing, and update its manifest.

    Args:
        model: Model directory.
        bonus: Bonus per unit for each unit tuned; units counted in characters or what is like
            them follow ``chars``.
        weight: Weight of MBR under the whole graph, ``None`` to leave it.

    Raises:
        ModelFormatError: If the configuration cannot be read.
    """
    path = model / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        stored = dict(config.get("unit_bonus", {}))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ModelFormatError(f"cannot read {path}: {error}") from error
    stored.update(bonus)
    if "chars" in bonus:
        stored.update(dict.fromkeys(_LIKE_CHARS, bonus["chars"]))
    config["unit_bonus"] = stored
    if weight is not None:
        config["mbr_weight"] = weight
    draft = path.with_suffix(".json.new")
    draft.write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, path)
    if (model / MANIFEST).is_file():
        write_manifest(model)


def _bonus_point(
    runner: ModelRunner, pairs: Sequence[EvaluationSet], unit: str, bonus: float
) -> BonusPoint:
    texts: list[str] = []
    references: list[tuple[str, ...]] = []
    limits: list[int] = []
    for part in pairs:
        for limit in _LIMITS[unit]:
            items = runner.run(part.sources, max_length=limit, unit=unit, unit_bonus=bonus)
            texts += [item.text for item in items]
            references += part.references
            limits += [limit] * len(items)
    return measure_bonus(bonus, texts, references, limits=limits, unit=_measurable(runner, unit))


def _measurable(runner: ModelRunner, unit: str) -> Unit:
    """The unit with a way to count it; tokens are counted by the model's tokenizer."""
    found = get_unit(unit)
    return Unit(unit, runner.summarizer.count_tokens) if unit == "tokens" else found


def _weight_score(
    runner: ModelRunner, pairs: Sequence[EvaluationSet], limit: int, weight: float
) -> float:
    """Mean R-Sum of MBR under the whole graph with one weight."""
    reranker = GraphMBRReranker.of(runner.summarizer.model.tokenizer, weight=weight)
    scores: list[float] = []
    for part in pairs:
        items = runner.run(part.sources, max_chars=limit, rerank=reranker, keep_short=False)
        texts = [item.text for item in items]
        scores += rouge_items(texts, part.references)[:, 3].tolist()
    return sum(scores) / len(scores)


def _bonus_table(unit: str, points: Sequence[BonusPoint], pick: BonusPoint) -> Table:
    rows = tuple(
        (p.bonus, p.rsum, 100 * p.fill, 100 * p.complete, "chosen" if p is pick else "")
        for p in points
    )
    limits = ", ".join(map(str, _LIMITS[unit]))
    return Table(
        f"Bonus per unit for limits in {unit} ({limits})",
        ("bonus", "R-Sum", "fill, %", "complete, %", ""),
        rows,
        (f"n: {len(points[0].items)}; rule: most fill within one standard error of the best",),
    )


def _weight_table(by_weight: Sequence[tuple[float, float]], best: float) -> Table:
    rows = tuple((-w, score, "chosen" if -w == best else "") for score, w in by_weight)
    note = "stored: the best, the smaller among equals; what rerank='mbr' uses"
    return Table("MBR under the whole graph", ("weight", "R-Sum", ""), rows, (note,))


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"bonuses must be numbers with commas between, was {text!r}") from None
    if not all(0 <= number < 100 for number in numbers):
        raise ConfigError(f"bonuses must be at least 0 and below 100, was {text!r}")
    return numbers
