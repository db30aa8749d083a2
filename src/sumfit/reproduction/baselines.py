"""The rows of the paper's trained baselines: which model fills each, and with what options.

Owns that table, the reading of ``--baseline``, and the way from a baseline to a row's texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumfit.errors import ConfigError
from sumfit.models.config import SYSTEMS
from sumfit.reproduction import paper
from sumfit.reproduction.runs import RunItem, exact_or_shorter

if TYPE_CHECKING:
    from sumfit.baselines.base import Baseline
    from sumfit.pipeline import Summarizer

__all__ = [
    "CTC_SUM",
    "ROWS",
    "BaselineRow",
    "load_baselines",
    "profile_of",
    "run_baseline",
]

CTC_SUM = "CTC, alignments summed by prefix beam (ours)"


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """How a row is filled.

    Attributes:
        system: The trained system it needs.
        keywords: Options of its search.
        is_exact: Its search can be asked for exactly the length; the others are asked for at
            most it, and cut.
    """

    system: str
    keywords: Mapping[str, Any] = field(default_factory=dict)
    is_exact: bool = False


# AT-LenInfo is told the length, so it is rarely cut; it is soft all the same.
ROWS: Mapping[str, BaselineRow] = {
    paper.AT: BaselineRow("at"),
    paper.LENINFO: BaselineRow("at-leninfo"),
    paper.CRF: BaselineRow("bert-crf"),
    paper.CTC: BaselineRow("ctc", {"method": "alignment"}, is_exact=True),
    CTC_SUM: BaselineRow("ctc", {"method": "prefix-beam"}, is_exact=True),
}


def load_baselines(
    specs: Sequence[str], *, device: str | None = None, batch_size: int = 64
) -> dict[str, Baseline]:
    """Load what ``--baseline`` names.

    Args:
        specs: ``DIR`` or ``NAME=DIR``, NAME a system such as ``at``.
        device: Torch device; a GPU if there is one, if not given.
        batch_size: Texts that each summarises together.

    Returns:
        Baselines by system.

    Raises:
        ConfigError: If a name is unknown or not that of the model, two are of one system, or the
            batch size is below 1.
        ModelError: If a directory holds no baseline.
    """
    if not specs:
        return {}
    from sumfit.baselines import load_baseline

    known = [system for system in SYSTEMS if system != "dat"]
    loaded: dict[str, Baseline] = {}
    for spec in specs:
        name, found, path = spec.partition("=")
        if found and name not in known and not Path(spec).exists():
            raise ConfigError(
                f"--baseline must be DIR or NAME=DIR with NAME among {', '.join(known)}, "
                f"was {spec!r}"
            )
        directory = path if found and name in known else spec
        baseline = load_baseline(directory, device=device, batch_size=batch_size)
        if directory != spec and baseline.system != name:
            raise ConfigError(f"--baseline {spec}: that model is of the system {baseline.system!r}")
        if baseline.system in loaded:
            raise ConfigError(
                f"two --baseline models are of the system {baseline.system!r}; give one of them"
            )
        loaded[baseline.system] = baseline
    return loaded


def run_baseline(
    baseline: Baseline, row: BaselineRow, sources: Sequence[str], limits: Sequence[int]
) -> list[RunItem]:
    """Summarise texts at the length of each.

    Args:
        baseline: The trained model of the row's system.
        row: Its options.
        sources: The texts.
        limits: Words for each.

    Returns:
        One item per text. Where a search that is asked for exactly the length finds nothing, it
        is asked for at most it, and the item's origin is ``"shorter"``.
    """
    keywords = {**row.keywords, "keep_short": False, "profile": profile_of(baseline)}

    def run(length: str, places: Sequence[int]) -> list[RunItem]:
        texts = [sources[place] for place in places]
        own = {length: [limits[place] for place in places]}
        return [RunItem.of(summary) for summary in baseline(texts, **own, **keywords)]

    if row.is_exact:
        return exact_or_shorter(run, len(sources))
    return run("max_words", range(len(sources)))


def profile_of(fit: Summarizer | Baseline) -> str:
    """Say in which form a model reads the paper's texts.

    Args:
        fit: The model.

    Returns:
        ``"gigaword"`` if it knows it.
    """
    profiles = fit.config.profiles
    return "gigaword" if "gigaword" in profiles else profiles[0]
