"""What n-best lists are wanted: model, texts, lengths, search.

Owns the settings and their checks, and the question whether the model has seen the texts.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sumfit.config import build
from sumfit.data.folds import Fold
from sumfit.decoding import METHODS
from sumfit.errors import ConfigError, ModelFormatError, ModelNotFoundError
from sumfit.length import UNITS, Unit
from sumfit.length.units.words import UNIT as WORDS
from sumfit.options import WORDS_PER_VERTEX, default_of
from sumfit.runtime.directory import DEFAULT_MODEL
from sumfit.training.start import start_directory

__all__ = ["LIMITS", "NbestSpec", "build_spec", "interval", "was_trained_on", "with_texts"]


@dataclass(frozen=True, slots=True)
class NbestSpec:
    """N-best lists of one model on one part of the data.

    Exactly one of ``ratio``, ``words`` and ``chars`` says how long; ``LOW:HIGH`` draws a limit for
    each text.

    Attributes:
        lists: Directory of the lists; made if it is not there or not complete.
        model: Checkpoint or model directory; ``default`` for the embedded model.
        corpus: Packed corpus to take texts from, in the pieces of the model's tokenizer.
        data: A file of pairs instead.
        split: Split of the corpus.
        profiles: Text profiles to take; of a file the first one is applied to its texts.
        sets: Sets of the corpus to take; all if empty.
        fold: Take only this fold of the texts, such as ``0/2``.
        max_items: Texts at most, drawn evenly; all if 0.
        allow_seen: Make lists of texts that the model was trained on all the same.
        ratio: Limit as a share of the source's words, ``floor(r (n + 2)) + 1`` of n words.
        words: Limit in words.
        chars: Limit in characters.
        exact: Whether words must be exactly the limit, as in the paper, or at most.
        method: Decoder.
        n_best: Candidates wanted.
        after_best: Let exact search end so many expansions after its best is certain: the list is
            what it has finished by then, as minimum Bayes risk reads it; 0 for an exact list.
        beam_size: ``K`` of the beam decoders.
        words_per_vertex: ``V``, words kept at each vertex.
        constraints: Keep the constraints that summaries have by default.
        lexicon: Lexicon for them; the model's own if empty.
        ending: ``eos`` or ``any``; the model's own if empty.
        bonus: Nats per token; 0 for exact lengths and the model's own for others if ``None``.
        max_expansions: Most prefixes that exact search expands.
        mbr_temperature: Temperature of the posterior behind the feature ``consensus``.
        seed: Of the draws.
        part_size: Texts of one part.
    """

    lists: str
    model: str = ""
    corpus: str = ""
    data: str = ""
    split: Literal["train", "valid"] = "train"
    profiles: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    fold: str = ""
    max_items: int = 0
    allow_seen: bool = False
    ratio: str = ""
    words: str = ""
    chars: str = ""
    exact: bool = True
    method: str = "seqmap"
    n_best: int = 20
    after_best: int = 0
    beam_size: int = default_of("beam_size")
    words_per_vertex: int = WORDS_PER_VERTEX
    constraints: bool = True
    lexicon: str = ""
    ending: str = ""
    bonus: float | None = None
    max_expansions: int = 400
    mbr_temperature: float = 2.0
    seed: int = 1
    part_size: int = 4096

    def __post_init__(self) -> None:
        problems = []
        Fold.parse(self.fold)
        given = [name for name in LIMITS if getattr(self, name)]
        if self.model and len(given) != 1:
            problems.append(
                f"exactly one of ratio, words and chars must be given, were {given or 'none'}"
            )
        if self.model and bool(self.corpus) == bool(self.data):
            what = "both" if self.data else "none"
            problems.append(f"exactly one of corpus and data must be given, were {what}")
        for name in given:
            low, high = interval(name, getattr(self, name))
            if not 0 < low <= high:
                problems.append(f"{name} must be above 0 and in order, was {getattr(self, name)!r}")
        if self.method not in METHODS:
            problems.append(
                f"method must be one of {', '.join(sorted(METHODS))}, was {self.method!r}"
            )
        if self.ending not in ("", "eos", "any"):
            problems.append(f"ending must be eos or any, was {self.ending!r}")
        least = {"n_best": 1, "beam_size": 1, "words_per_vertex": 1, "part_size": 1}
        least |= {"max_items": 0, "max_expansions": 1, "after_best": 0}
        problems += [
            f"{name} must be at least {value}, was {getattr(self, name)}"
            for name, value in least.items()
            if getattr(self, name) < value
        ]
        if not self.mbr_temperature > 0:
            problems.append(f"mbr_temperature must be above 0, was {self.mbr_temperature}")
        if problems:
            raise ConfigError("\n".join(problems))

    @property
    def unit(self) -> Unit:
        """What the limit counts; of a ratio, words."""
        return next((UNITS[name] for name in _UNITS if getattr(self, name)), WORDS)

    @property
    def is_exact(self) -> bool:
        """Whether lengths are exact: words only."""
        return self.exact and self.unit.counts_words

    def settings(self) -> dict[str, Any]:
        """What the lists of given texts depend on, beside the model."""
        left_out = ("lists", "model", "corpus", "data", "allow_seen", "lexicon")
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if name not in left_out}


_UNITS = tuple(field.name for field in dataclasses.fields(NbestSpec) if field.name in UNITS)
LIMITS = ("ratio", *_UNITS)
"""Settings that say how long, of which one is given."""


def build_spec(values: Mapping[str, Any]) -> NbestSpec:
    """Turn the settings of lists that are to be made into a spec.

    Args:
        values: Settings as TOML gives them.

    Returns:
        The spec.

    Raises:
        ConfigError: If the model is not given, or any setting is wrong; all is listed.
    """
    values, problems = with_texts(values), list[str]()
    if "model" not in values or values["model"] == "":
        problems.append(
            "model must be given: model=DIR for a checkpoint or a model directory, "
            "model=default for the embedded model"
        )
        values["model"] = DEFAULT_MODEL  # so that the rest is looked at as with a model
    try:
        spec = build(NbestSpec, values, what="the settings")
    except ConfigError as error:
        raise ConfigError("\n".join([*problems, str(error)])) from None
    if problems:
        raise ConfigError("\n".join(problems))
    return spec


def with_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Write limits that are plain numbers as text, which `NbestSpec` wants.

    Args:
        values: Settings as TOML gives them.

    Returns:
        A changed copy.
    """
    return {
        name: str(value)
        if name in LIMITS and isinstance(value, int | float) and not isinstance(value, bool)
        else value
        for name, value in values.items()
    }


def interval(name: str, text: str) -> tuple[float, float]:
    """Read ``LOW:HIGH``, or one number for both.

    Args:
        name: What the error calls it.
        text: The text.

    Returns:
        Both ends.

    Raises:
        ConfigError: If these are no numbers.
    """
    low, _, high = text.partition(":")
    try:
        return float(low), float(high or low)
    except ValueError:
        raise ConfigError(f"{name} must be a number or LOW:HIGH, was {text!r}") from None


def was_trained_on(spec: NbestSpec) -> bool:
    """Say whether a model was trained on the texts that lists are wanted of.

    What a model makes of texts it was trained on is too good: a reranker that learns from such
    lists trusts the first candidate too much.

    Args:
        spec: Model and texts.

    Returns:
        The verdict, from the recipe in the model's ``config.json``; ``False`` if it has none.

    Raises:
        ModelNotFoundError: If the model has no ``config.json``.
        ModelFormatError: If that is damaged.
    """
    if spec.corpus and spec.split != "train":
        return False
    config = _read_config(start_directory(spec.model))
    data = config.get("recipe", {}).get("data", {})
    sets = data.get("sets", [])
    left_out = data.get("leave_out", "")
    if left_out and left_out == spec.fold:
        return False
    if spec.data:
        path = Path(spec.data).as_posix()
        return any(entry["train"] and path.endswith(entry["train"]) for entry in sets)
    names = {entry["name"] for entry in sets}
    return bool(names & set(spec.sets)) if spec.sets else bool(names)


def _read_config(model: Path) -> dict[str, Any]:
    file = model / "config.json"
    if not file.is_file():
        raise ModelNotFoundError(f"{file} is not there; give a checkpoint or a model directory")
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (UnicodeDecodeError, ValueError, TypeError) as error:
        raise ModelFormatError(f"{file} is damaged ({error}); save the model again") from error
