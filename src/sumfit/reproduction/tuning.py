"""Values of a model that are fitted on validation data: bonuses of units, and the weight of MBR.

Owns which values are tried at which limits, the tables of what they are worth, and where a model
keeps them. Does not own the rule of choice (`sumfit.evaluation.tuning`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sumfit.errors import ConfigError, ModelFormatError
from sumfit.evaluation.rouge import rouge_items
from sumfit.evaluation.table import Table
from sumfit.evaluation.tuning import BonusPoint, choose_bonus, measure_bonus
from sumfit.length import UNITS, Unit, get_unit
from sumfit.models.manifest import MANIFEST, write_manifest
from sumfit.reproduction.runs import EvaluationSet, ModelRunner
from sumfit.rerank import GraphMBRReranker

__all__ = ["Tuned", "bonus_grids", "count_summaries", "store", "tune_bonuses", "tune_weight"]

_LIMITS = {"words": (8, 12), "chars": (40, 60, 80), "tokens": (10, 16)}
_BONUSES = {  # nats per unit
    "words": (0.0, 0.5, 1.0, 1.5, 2.0, 2.5),
    "chars": (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35),
    "tokens": (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5),
}
_WEIGHTS = (10.0, 20.0, 30.0, 50.0, 70.0, 100.0, 150.0)


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was chosen, and what it is worth.

    Attributes:
        bonus: Bonus per unit, for each unit tuned.
        tables: What every value tried is worth.
        weight: Weight of MBR under the whole graph; ``None`` if it was not tuned.
    """

    bonus: Mapping[str, float]
    tables: tuple[Table, ...]
    weight: float | None = None


def bonus_grids(units: str, bonuses: str | None) -> dict[str, Sequence[float]]:
    """Read which bonuses to try.

    Args:
        units: Names of units, with commas between.
        bonuses: Nats per unit, with commas between; a grid for each unit if ``None``.

    Returns:
        The bonuses of each unit.

    Raises:
        ConfigError: If a unit is not tuned, or a bonus is not a number from 0 to below 100.
    """
    values = None if bonuses is None else _numbers(bonuses)
    return {unit: values or _BONUSES[unit] for unit in _units(units)}


def count_summaries(
    pairs: Sequence[EvaluationSet], grids: Mapping[str, Sequence[float]], *, mbr: bool
) -> int:
    """Count the summaries that all settings together take.

    Args:
        pairs: The validation sets.
        grids: The bonuses of each unit.
        mbr: Whether the weight of MBR is tuned too.

    Returns:
        The number.
    """
    n_runs = sum(len(_LIMITS[unit]) * len(grid) for unit, grid in grids.items())
    if mbr:
        n_runs += len(_WEIGHTS)
    return n_runs * sum(map(len, pairs))


def tune_bonuses(
    runner: ModelRunner, pairs: Sequence[EvaluationSet], grids: Mapping[str, Sequence[float]]
) -> Tuned:
    """Choose the bonus of each unit.

    Args:
        runner: The model.
        pairs: The validation sets.
        grids: The bonuses to try for each unit.

    Returns:
        The bonuses, with one table for each unit.
    """
    bonus, tables = {}, []
    for unit, grid in grids.items():
        points = [_bonus_point(runner, pairs, unit, value) for value in grid]
        pick = choose_bonus(points)
        bonus[unit] = pick.bonus
        tables.append(_bonus_table(unit, points, pick))
    return Tuned(bonus, tuple(tables))


def tune_weight(
    runner: ModelRunner, pairs: Sequence[EvaluationSet], found: Tuned, *, limit: int
) -> Tuned:
    """Choose the weight of MBR under the whole graph: the best one, the smaller among equals.

    Args:
        runner: The model.
        pairs: The validation sets.
        found: What was chosen before.
        limit: Limit of the summaries in characters.

    Returns:
        The same with the weight and its table.
    """
    by_weight = [(_weight_score(runner, pairs, limit, one), -one) for one in _WEIGHTS]
    weight = -max(by_weight)[1]
    table = _weight_table(by_weight, weight)
    return replace(found, tables=(*found.tables, table), weight=weight)


def store(
    model: Path,
    bonus: Mapping[str, float],
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
    # Once more for every unit that is like a tuned one, directly or by another.
    for name, unit in UNITS.items():
        while unit.tuned_like and unit.name not in bonus:
            unit = UNITS[unit.tuned_like]
        if unit.name in bonus:
            stored[name] = bonus[unit.name]
    config["unit_bonus"] = stored
    if weight is not None:
        config["mbr_weight"] = weight
    draft = path.with_suffix(".json.new")
    draft.write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, path)
    if (model / MANIFEST).is_file():
        write_manifest(model)


def _units(text: str) -> list[str]:
    wanted = [unit.strip() for unit in text.split(",") if unit.strip()]
    unknown = [unit for unit in wanted if unit not in _LIMITS]
    if unknown:
        raise ConfigError(f"units must be among {', '.join(_LIMITS)}, was {unknown[0]!r}")
    return wanted


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"bonuses must be numbers with commas between, was {text!r}") from None
    if not all(0 <= number < 100 for number in numbers):
        raise ConfigError(f"bonuses must be at least 0 and below 100, was {text!r}")
    return numbers


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
    return found if found.count else Unit(unit, runner.summarizer.count_tokens)


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
