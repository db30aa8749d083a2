"""The model directory: what is in it, whether its parts belong together, and reading them.

Owns ``config.json`` as the runtime needs it, the checks that name what is wrong with a directory,
and the embedded default model's place. Does not own the network (`sumfit.runtime.onnx`,
`sumfit.runtime.torch`). Nothing here or below opens a network connection.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumfit._version import __version__
from sumfit.errors import (
    ConfigError,
    IncompatibleModelError,
    ModelFormatError,
    ModelNotFoundError,
)
from sumfit.length.unit import Unit
from sumfit.length.units.chars import UNIT as CHARS
from sumfit.models.config import FORMAT, SCORER_FILES, DATConfig
from sumfit.models.manifest import MOST_UNPACKED, ModelFiles
from sumfit.options import WORDS_PER_VERTEX
from sumfit.text import Tokenizer
from sumfit.text.controls import N_CONTROLS, Controls
from sumfit.text.salience import SALIENCE_FILE, Salience
from sumfit.unpacking import read_object

if TYPE_CHECKING:
    from sumfit.constraints.lexicon import Lexicon

__all__ = [
    "DEFAULT_MODEL",
    "LEXICON",
    "RERANKER",
    "ModelConfig",
    "ModelDirectory",
    "default_model_path",
]

DEFAULT_MODEL = "default"
"""Names the embedded model wherever a model directory is asked for."""


LEXICON = "lexicon.txt.xz"
"""Where in its directory a model has the words it knows."""

RERANKER = "reranker"
"""Where in its directory a model may bring a reranker."""

_MOST_SALIENCE = 1 << 24  # bytes unpacked

_PARTS = f"config.json, tokenizer.json, {LEXICON} and model.onnx or model.fp32.onnx"


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What the runtime and the pipeline need to know about a model.

    Attributes:
        name: The model's name, echoed by the command line and the server.
        architecture: Shape of the network, with the longest source and the graph's size.
        tokenizer_sha256: Fingerprint of the tokenizer that the network was trained with.
        max_source: Most source pieces that it was trained to read.
        words_per_vertex: ``M``, words kept per vertex in the exported graph.
        pinned_words: ``P``, how many of the longest pieces it keeps at all vertices.
        ending: Objective the model was tuned with, ``"eos"`` or ``"any"``.
        bonus: Score added per token in the search, nats by unit name, with ``"default"``.
        unit_bonus: Score added per unit of length instead, nats by unit name.
        mbr_weight: Nats that expected overlap is worth to minimum Bayes risk.
        mbr_temperature: Temperature of the n-best posterior for minimum Bayes risk.
        profiles: Text profiles that the training text covered.
        scripts: Writing systems that it covered, such as ``Latin``; empty for any.
        languages: Languages that it covered, codes of ISO 639-1; empty for any.
        system: Kind of model: ``dat``, or a baseline's name.
        has_controls: Whether it reads control pieces before a source, see `sumfit.text.controls`.
        confidence: What makes the chance that a summary is fit to be printed, see
            `sumfit.rerank.confidence`; empty where the model cannot tell.
    """

    name: str
    architecture: DATConfig
    tokenizer_sha256: str
    max_source: int
    words_per_vertex: int = WORDS_PER_VERTEX
    pinned_words: int = 0
    ending: str = "eos"
    bonus: Mapping[str, float] = field(default_factory=dict)
    unit_bonus: Mapping[str, float] = field(default_factory=dict)
    mbr_weight: float = 100.0
    mbr_temperature: float = 1.0
    profiles: tuple[str, ...] = ("natural",)
    scripts: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    system: str = "dat"
    has_controls: bool = False
    confidence: Mapping[str, float] = field(default_factory=dict)

    def bonus_for(self, unit: str) -> float:
        """Score added per token when the limit counts ``unit``.

        Args:
            unit: Name of a unit.

        Returns:
            Nats per token, 0 where the unit has a bonus per unit.
        """
        if unit in self.unit_bonus:
            return 0.0
        return float(self.bonus.get(unit, self.bonus.get("default", 0.0)))

    def unit_bonus_for(self, unit: str) -> float:
        """Score added per unit of length when the limit counts ``unit``.

        Args:
            unit: Name of a unit.

        Returns:
            Nats per unit, 0 where the unit has none.
        """
        return float(self.unit_bonus.get(unit, 0.0))


def default_model_path() -> Path:
    """Where the embedded model lies, whether or not it is there.

    Returns:
        A directory inside the installed package.
    """
    return Path(__file__).resolve().parent.parent / "assets" / "default"


class ModelDirectory:
    """An opened model directory: configuration and tokenizer checked, the rest read on demand."""

    def __init__(self, files: ModelFiles, config: ModelConfig, tokenizer: Tokenizer) -> None:
        """Use `open`; this only stores its parts.

        Args:
            files: The directory's files.
            config: Its configuration.
            tokenizer: Its tokenizer.
        """
        self.files = files
        self.path = files.directory
        self.config = config
        self.tokenizer = tokenizer

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | None = None, *, system: str = "dat"
    ) -> ModelDirectory:
        """Read and check a model directory.

        Args:
            path: The directory; ``None`` for the embedded default model, and so is ``"default"``
                where no directory has that name.
            system: Kind of model that is wanted.

        Returns:
            The directory, ready for a backend.

        Raises:
            ModelNotFoundError: If there is no such directory.
            ModelFormatError: If a file is missing or damaged, is not the one that the manifest
                lists, or lies outside the directory.
            IncompatibleModelError: If the model is of another version or system, or the
                tokenizer is not the one it was trained with.
        """
        directory = _existing(path)
        files = ModelFiles(directory)
        files.check()
        config = _read_config(files.path("config.json"))
        if config.system != system:
            raise IncompatibleModelError(
                f"{directory} holds a model of the system {config.system!r}, but {system!r} is "
                "wanted here; baselines are loaded with sumfit.baselines.load_baseline"
            )
        tokenizer = _read_tokenizer(files.path("tokenizer.json"))
        if tokenizer.fingerprint != config.tokenizer_sha256:
            raise IncompatibleModelError(
                f"{directory / 'tokenizer.json'} is not the tokenizer this model was trained with: "
                f"its sha256 is {tokenizer.fingerprint[:12]}..., config.json says "
                f"{config.tokenizer_sha256[:12]}...; restore the file or export the model again"
            )
        if tokenizer.vocab_size != config.architecture.vocab_size:
            raise IncompatibleModelError(
                f"{directory}: the tokenizer has {tokenizer.vocab_size} pieces, the network "
                f"{config.architecture.vocab_size}; export the model again"
            )
        return cls(files, config, tokenizer)

    @cached_property
    def lexicon(self) -> Lexicon | None:
        """Words of the training text; ``None`` if the model has no lexicon."""
        from sumfit.constraints.lexicon import Lexicon

        file = self.files.path(LEXICON)
        most = self.files.unpacked(LEXICON, MOST_UNPACKED)
        return Lexicon.load(file, most_bytes=most) if file.exists() else None

    @cached_property
    def salience(self) -> Salience | None:
        """What tells which sentence of a text says most; ``None`` if the model cannot tell."""
        file = self.files.path(SALIENCE_FILE)
        if not file.exists() or not self.config.architecture.n_scorer_layers:
            return None
        most = self.files.unpacked(SALIENCE_FILE, _MOST_SALIENCE)
        return Salience.load(file, self.config.architecture.width, most)

    @cached_property
    def controls(self) -> Controls | None:
        """The model's control pieces; ``None`` if it was trained without them."""
        return Controls.of_tokenizer(self.tokenizer) if self.config.has_controls else None

    def control_ids(
        self, *, style: str = "", unit: Unit = CHARS, limit: int | None = None
    ) -> tuple[int, ...]:
        """Return the control pieces that stand before a source.

        Args:
            style: What to tell of the style; empty for nothing.
            unit: The limit's unit.
            limit: Longest summary, in that unit; ``None`` for any.

        Returns:
            Vocabulary ids; none if the model was trained without control pieces.
        """
        if self.controls is None:
            return ()
        n_chars = None
        if limit is not None:
            n_chars = math.ceil(limit * unit.chars_per_unit)
        return self.controls.ids(style=style, n_chars=n_chars)

    @property
    def most_read(self) -> int:
        """Most source pieces that the network reads beside the control pieces."""
        return self.config.max_source - (N_CONTROLS if self.config.has_controls else 0)

    @property
    def own_reranker_path(self) -> Path:
        """Where in its directory the model's own reranker would lie."""
        return self.path / RERANKER

    @property
    def own_reranker(self) -> Path | None:
        """Directory of the reranker that the model brings along; ``None`` if it brings none."""
        return self.files.folder(RERANKER)

    def scorer_file(self, graph: Path) -> Path | None:
        """The scorer that belongs to an exported network.

        Args:
            graph: The network's file.

        Returns:
            The ONNX file; ``None`` if the model has no scorer.

        Raises:
            ModelFormatError: If the model should have one and it is missing.
        """
        if not self.config.architecture.n_scorer_layers:
            return None
        file = graph.with_name(SCORER_FILES[graph.name])
        if not file.is_file():
            raise ModelFormatError(f"{file} is missing; copy or export the model again")
        return file

    def graph_file(self, precision: str | None = None) -> Path:
        """The exported network.

        Args:
            precision: ``"int8"``, ``"fp32"``, or ``None`` for int8 if it is there, else fp32.

        Returns:
            The ONNX file.

        Raises:
            ModelFormatError: If there is no such file, or not the one that the manifest lists.
            ValueError: If ``precision`` is unknown.
        """
        names = {"int8": "model.onnx", "fp32": "model.fp32.onnx"}
        if precision is not None and precision not in names:
            raise ValueError(f"precision must be 'int8' or 'fp32', was {precision!r}")
        wanted = [names[precision]] if precision else list(names.values())
        for name in wanted:
            file = self.files.path(name)
            if file.is_file():
                return file
        raise ModelFormatError(
            f"{self.path} holds no {' or '.join(wanted)}; "
            f"run: sumfit export {self.path}, or copy the model again"
        )


def _existing(path: str | os.PathLike[str] | None) -> Path:
    if path is None or (os.fspath(path) == DEFAULT_MODEL and not Path(path).exists()):
        directory = default_model_path()
        if not (directory / "config.json").is_file():
            raise ModelNotFoundError(
                f"the default model is not in this installation (looked in {directory}); "
                "install sumfit again, or name a model directory"
            )
        return directory
    directory = Path(path)
    if _is(directory.is_file):
        raise ModelNotFoundError(f"{directory} is a file; give the directory that holds {_PARTS}")
    if not _is(directory.is_dir):
        raise ModelNotFoundError(
            f"there is no model directory {directory}; give one that holds {_PARTS} "
            "(sumfit reads local directories only and downloads nothing)"
        )
    return directory


def _is(kind: Callable[[], bool]) -> bool:
    """Return whether a path is of a kind; one that is no path at all, such as a text, is not."""
    try:
        return kind()
    except (OSError, ValueError):  # too long a name, a null byte
        return False


def _read_config(file: Path) -> ModelConfig:
    if not file.is_file():
        raise ModelFormatError(
            f"{file} is missing; a model directory holds {_PARTS}: copy the model again"
        )
    try:
        values = read_object(file)
    except (OSError, ValueError) as error:
        raise ModelFormatError(f"{file} cannot be read ({error}); copy the model again") from error
    found = values.get("format")
    if found != FORMAT:
        raise IncompatibleModelError(
            f"{file} has format {found!r}, but sumfit {__version__} reads {FORMAT!r}; "
            "install the sumfit that wrote it, or export the model again"
        )
    architecture = _architecture(_field(values, "architecture", dict, file), file)
    longest = architecture.max_source_tokens
    numbers = {
        name: {
            str(key): _number(value, f"{name}.{key}", file)
            for key, value in _field(values, name, dict, file, default={}).items()
        }
        for name in ("bonus", "unit_bonus", "confidence")
    }
    return ModelConfig(
        name=_field(values, "name", str, file),
        architecture=architecture,
        tokenizer_sha256=_field(values, "tokenizer_sha256", str, file),
        max_source=min(_count(values, "max_source", file, default=longest), longest),
        words_per_vertex=_count(values, "words_per_vertex", file, default=WORDS_PER_VERTEX),
        pinned_words=_count(values, "pinned_words", file, default=0, least=0),
        ending=_choice(values, "ending", ("eos", "any"), file),
        **numbers,
        mbr_weight=_positive_float(values, "mbr_weight", file, default=100.0),
        mbr_temperature=_positive_float(values, "mbr_temperature", file, default=1.0),
        profiles=_names(values, "profiles", file, default=("natural",)),
        scripts=_names(values, "scripts", file, default=()),
        languages=_names(values, "languages", file, default=("en",)),
        system=_field(values, "system", str, file, default="dat"),
        has_controls=bool(_field(values, "controls", dict, file, default={})),
    )


def _architecture(values: dict[str, Any], file: Path) -> DATConfig:
    try:
        return DATConfig.from_dict(values)
    except ConfigError as error:
        raise IncompatibleModelError(
            f"{file}: architecture cannot be used by sumfit {__version__} ({error}); "
            "install the sumfit that wrote it, or export the model again"
        ) from error


def _field(values: Mapping[str, Any], key: str, kind: type, file: Path, default: Any = None) -> Any:
    value = values.get(key, default)
    if not isinstance(value, kind):
        state = f"is {value!r:.80}" if key in values else "is missing"
        raise ModelFormatError(
            f"{file}: {key!r} {state}, must be a {kind.__name__}; export the model again"
        )
    return value


def _number(value: Any, key: str, file: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelFormatError(
            f"{file}: {key!r} is {value!r:.80}, must be a number; export the model again"
        )
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ModelFormatError(
            f"{file}: {key!r} is {number}, must be a finite number; export the model again"
        )
    return number


def _names(
    values: Mapping[str, Any], key: str, file: Path, *, default: tuple[str, ...]
) -> tuple[str, ...]:
    found = _field(values, key, list, file, default=list(default))
    wrong = [name for name in found if not isinstance(name, str)]
    if wrong:
        raise ModelFormatError(
            f"{file}: {key!r} holds {wrong[0]!r:.80}, must hold names; export the model again"
        )
    return tuple(found)


def _count(values: Mapping[str, Any], key: str, file: Path, *, default: int, least: int = 1) -> int:
    value = _field(values, key, int, file, default)
    if isinstance(value, bool) or value < least:
        raise ModelFormatError(
            f"{file}: {key!r} is {value!r}, must be {least} or more; export the model again"
        )
    return int(value)


def _positive_float(values: Mapping[str, Any], key: str, file: Path, default: float) -> float:
    value = _number(values.get(key, default), key, file)
    if not value > 0:
        raise ModelFormatError(
            f"{file}: {key!r} is {value!r}, must be above 0; export the model again"
        )
    return value


def _choice(values: Mapping[str, Any], key: str, allowed: tuple[str, ...], file: Path) -> str:
    value = values.get(key, allowed[0])
    if not isinstance(value, str) or value not in allowed:
        raise ModelFormatError(
            f"{file}: {key!r} is {value!r}, must be one of {', '.join(allowed)}; "
            "export the model again"
        )
    return str(value)


def _read_tokenizer(file: Path) -> Tokenizer:
    if not file.is_file():
        raise ModelFormatError(
            f"{file} is missing; a model directory holds {_PARTS}: copy the model again"
        )
    try:
        return Tokenizer.from_file(file)
    except ModelFormatError:
        raise
    except Exception as error:  # the tokenizers library raises bare Exception
        raise ModelFormatError(
            f"{file} is not a tokenizer ({error}); copy the model again"
        ) from error
