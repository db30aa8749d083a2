"""A trained reranker at run time: onnxruntime on the CPU, no torch.

Owns the directory of a reranker, the checks whether it fits a summarizer, and the order that it
gives. Does not own its training (`sumfit.training.reranking`).

A directory holds ``config.json``, ``model.onnx`` or ``model.fp32.onnx``, and ``tokenizer.json``
(the encoder's), or ``phrases.npz`` if there is no encoder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sumfit._version import __version__
from sumfit.deadline import Deadline
from sumfit.errors import (
    ConfigError,
    IncompatibleModelError,
    ModelFormatError,
    ModelNotFoundError,
)
from sumfit.hypothesis import Candidate, Hypothesis
from sumfit.models.config import FORMAT
from sumfit.models.manifest import MOST_UNPACKED, ModelFiles
from sumfit.models.reranker_config import RERANKER_FORMAT, RerankerShape, reader_file
from sumfit.models.session import open_session
from sumfit.rerank.chooser import Chooser, ListPlan, Ranked, TextRead, keeps_order, n_competing
from sumfit.rerank.features import FEATURES, ListNumbers, candidate_features
from sumfit.rerank.graph import GraphMBRReranker
from sumfit.rerank.phrases import Phrases
from sumfit.rerank.pieces import PieceReader
from sumfit.rerank.text_features import LIST_FEATURES, text_features
from sumfit.text import Tokenizer
from sumfit.text.split import split_words
from sumfit.unpacking import read_object

__all__ = ["NeuralReranker", "RerankerConfig", "read_config"]

_LARGEST = 1e9  # number in a configuration
_GRAPHS = ("model.onnx", "model.fp32.onnx")
_PARTS = "config.json, tokenizer.json or phrases.npz, and model.onnx or model.fp32.onnx"


@dataclass(frozen=True, slots=True)
class RerankerConfig:
    """What ``config.json`` of a reranker says.

    Attributes:
        name: The reranker's name.
        architecture: Shape of the network; ``n_candidates`` is the list it was trained with.
        tokenizer_sha256: Fingerprint of the tokenizer of the summarizers whose lists it learned
            from.
        models: Names of those summarizers.
        profiles: Text profiles of the lists; empty for any.
        mbr_temperature: Temperature behind the feature ``consensus``.
        n_listed: Candidates that the search is to list, of which the first
            ``architecture.n_candidates`` are read.
        after_best: Expansions of the search for that list after its best is certain; 0 for an
            exact list.
        network_weight: Weight of the network's logits; 0 if validation preferred to do without.
        weight: Weight of the search's own score beside them.
        f1_weight: Weight of the expected F1 beside them.
    """

    name: str
    architecture: RerankerShape
    tokenizer_sha256: str
    models: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    mbr_temperature: float = 2.0
    n_listed: int = 20
    after_best: int = 0
    network_weight: float = 1.0
    weight: float = 0.0
    f1_weight: float = 0.0

    @property
    def reads_graph(self) -> bool:
        """Whether anything depends on the graph, beside the words of the candidates."""
        shape = self.architecture
        return bool(self.after_best or shape.order_weight or shape.n_features or self.f1_weight)


class NeuralReranker(Chooser):
    """Orders candidates by a trained network; safe to use from several threads."""

    def __init__(self, path: str | os.PathLike[str], *, n_threads: int = 1) -> None:
        """Load a reranker.

        Args:
            path: Its directory.
            n_threads: Threads inside one call.

        Raises:
            ModelNotFoundError: If there is no such directory.
            ModelFormatError: If a file is missing or damaged.
            IncompatibleModelError: If it is of another version, or its parts do not belong
                together.
        """
        self.path = _existing(path)
        files = ModelFiles(self.path)
        files.check()
        self.config = read_config(files.path("config.json"))
        shape = self.config.architecture
        reader = files.path(reader_file(shape.encoder))
        if not reader.is_file():
            raise ModelFormatError(
                f"{reader} is missing; the directory of a reranker holds {_PARTS}"
            )
        self._phrases: Phrases | None = None
        self._session = _session(files, n_threads, shape)
        if shape.encoder == "none":
            most = files.unpacked(reader.name, MOST_UNPACKED)
            self._phrases = Phrases.load(reader, most_bytes=most)
            return
        self._reader = PieceReader(shape.encoder, reader)
        if self._reader.vocab_size > shape.vocab_size:
            raise IncompatibleModelError(
                f"{self.path}: the tokenizer has {self._reader.vocab_size} pieces, the network "
                f"{shape.vocab_size}; export the reranker again"
            )

    @property
    def name(self) -> str:
        """The reranker's name."""
        return self.config.name

    @property
    def n_candidates(self) -> int:
        """How long a list it was trained with."""
        return self.config.architecture.n_candidates

    @property
    def plan(self) -> ListPlan:
        """The list it was trained with: the search's own, or one that the graph orders."""
        config = self.config
        if not config.reads_graph:
            return ListPlan(self.n_candidates)
        return ListPlan(self.n_candidates, config.n_listed, config.after_best or None)

    def check_model(self, *, tokenizer_sha256: str, name: str) -> None:
        """Raise unless a summarizer has the reranker's tokenizer.

        A model of the same tokenizer is accepted, whatever its weights: a reranker learns from
        lists of several.

        Args:
            tokenizer_sha256: Fingerprint of the summarizer's tokenizer.
            name: The summarizer's name.

        Raises:
            IncompatibleModelError: If the reranker was made for another tokenizer.
        """
        if tokenizer_sha256 != self.config.tokenizer_sha256:
            raise IncompatibleModelError(
                f"reranker {self.name!r} was trained on candidates of {_listed(self.config.models)}"
                f", whose tokenizer is {self.config.tokenizer_sha256[:12]}; model {name!r} has "
                f"another one ({tokenizer_sha256[:12]}); train a reranker for this model"
            )

    def check_profile(self, profile: str) -> None:
        """Raise unless the reranker was trained on texts of this form.

        Args:
            profile: Name of a text profile.

        Raises:
            ConfigError: If the reranker was trained on other profiles.
        """
        if self.config.profiles and profile not in self.config.profiles:
            raise ConfigError(
                f"reranker {self.name!r} was trained on profile {_listed(self.config.profiles)}, "
                f"profile was {profile!r}; use another reranker"
            )

    def lister(self, tokenizer: Tokenizer) -> GraphMBRReranker | None:
        """Say how the list is to be made and ordered before its strings are.

        Args:
            tokenizer: The summarizer's.

        Returns:
            The reranker that gives the order, and the expected F1 of each candidate; ``None`` for
            the search's own list of `n_candidates`, where no F1 is read.
        """
        config = self.config
        if not config.reads_graph:
            return None
        return GraphMBRReranker.of(
            tokenizer,
            weight=config.architecture.order_weight,
            n_candidates=config.n_listed,
            after_best=config.after_best or None,
        )

    def rank_found(self, text: TextRead, found: Sequence[Hypothesis], deadline: Deadline) -> Ranked:
        """Order hypotheses as `lister` says.

        Args:
            text: The text with its graph.
            found: Hypotheses, best score first.
            deadline: Not looked at; the order takes next to no time.

        Returns:
            The order, and the expected F1 of each.
        """
        lister = self.lister(text.tokenizer) or Chooser()
        return lister.rank_found(text, found, deadline)

    def rank_texts(
        self, text: TextRead, candidates: Sequence[Candidate], deadline: Deadline
    ) -> Ranked:
        """Order candidates as `order` does; those beyond its list stay behind it.

        Args:
            text: The text.
            candidates: Candidates, in the order of `rank_found`.
            deadline: Once it is over, the candidates keep their order.

        Returns:
            The order.
        """
        if keeps_order(candidates, deadline):
            return Ranked(range(len(candidates)))
        n_read = n_competing(candidates, self.n_candidates)
        order = self.order(text.source, candidates[:n_read])
        return Ranked([*order, *range(n_read, len(candidates))])

    def order(self, source_text: str, candidates: Sequence[Candidate]) -> tuple[int, ...]:
        """Order the candidates, best first.

        Only as many as it was trained with compete; what lies beyond keeps its place behind them.
        Candidates of the same score keep their order.

        Args:
            source_text: The text that was summarised.
            candidates: The candidates, in the order of `lister`.

        Returns:
            Indices of the candidates.
        """
        if len(candidates) < 2:
            return tuple(range(len(candidates)))
        scores = self.score(source_text, candidates[: self.n_candidates])
        order = np.argsort(-scores, kind="stable")
        return (*(int(i) for i in order), *range(len(scores), len(candidates)))

    def score(self, source_text: str, candidates: Sequence[Candidate]) -> npt.NDArray[np.float64]:
        """Score the candidates of one text; higher is better.

        Args:
            source_text: The text that was summarised.
            candidates: The candidates, in the order of `lister`, at most `n_candidates`.

        Returns:
            ``(K,)`` scores: weighted logits of the choice, score of the search and expected F1.
        """
        config = self.config
        numbers = ListNumbers.of(candidates)
        total = config.weight * (numbers.scores - numbers.scores.max())
        if config.f1_weight:
            total += config.f1_weight * (numbers.expected_f1 - numbers.expected_f1.max())
        if not config.network_weight:
            return np.asarray(total)
        texts = [candidate.text for candidate in candidates]
        inputs = {} if self._phrases is not None else self._encoded(source_text, texts)
        if config.architecture.n_features:
            inputs["features"] = self._features(source_text, texts, numbers)[None]
        (logits,) = self._session.run(["logits"], inputs)
        return np.asarray(config.network_weight * logits[0].astype(np.float64) + total)

    def _encoded(self, source_text: str, texts: Sequence[str]) -> dict[str, Any]:
        shape = self.config.architecture
        source = self._reader.encode([source_text], most=shape.max_source)
        candidates = self._reader.encode(texts, most=shape.max_candidate)
        ids = np.full((1, len(texts), max(map(len, candidates))), shape.pad_id, dtype=np.int64)
        for row, pieces in enumerate(candidates):
            ids[0, row, : len(pieces)] = pieces
        return {"source_ids": np.array(source, dtype=np.int64), "candidate_ids": ids}

    def _features(
        self, source_text: str, texts: Sequence[str], numbers: ListNumbers
    ) -> npt.NDArray[np.float32]:
        temperature = self.config.mbr_temperature
        if self._phrases is not None:
            return text_features(
                source_text, texts, numbers, phrases=self._phrases, temperature=temperature
            )
        words = [split_words(text) for text in texts]
        return candidate_features(words, numbers, temperature=temperature)


def read_config(file: Path) -> RerankerConfig:
    """Read and check ``config.json`` of a reranker.

    Args:
        file: The file.

    Returns:
        Its content.

    Raises:
        ModelFormatError: If it is damaged.
        IncompatibleModelError: If it is of another format or version.
    """
    try:
        values = read_object(file)
    except (OSError, ValueError) as error:
        raise ModelFormatError(f"{file} cannot be read ({error}); copy the reranker again") from (
            error
        )
    found = values.get("format")
    if found != RERANKER_FORMAT:
        hint = "; this is a model, not a reranker" if found == FORMAT else ""
        raise IncompatibleModelError(
            f"{file} has format {found!r}, a reranker of sumfit {__version__} has "
            f"{RERANKER_FORMAT!r}{hint}"
        )
    try:
        shape = RerankerShape.from_dict(_typed(values, "architecture", dict))
    except ConfigError as error:
        raise IncompatibleModelError(
            f"{file}: architecture cannot be used by sumfit {__version__} ({error}); "
            "export the reranker again"
        ) from error
    known = LIST_FEATURES if shape.encoder == "none" else FEATURES
    if shape.n_features and tuple(_typed(values, "features", list, [])) != known:
        raise IncompatibleModelError(
            f"{file}: the network reads features {values.get('features')}, sumfit {__version__} "
            f"computes {list(known)}; train the reranker again"
        )
    return RerankerConfig(
        name=_typed(values, "name", str),
        architecture=shape,
        tokenizer_sha256=_typed(values, "tokenizer_sha256", str),
        models=tuple(map(str, _typed(values, "models", list, []))),
        profiles=tuple(map(str, _typed(values, "profiles", list, []))),
        mbr_temperature=_number(values, "mbr_temperature", 2.0, is_positive=True),
        n_listed=_count(values, "n_listed", shape.n_candidates),
        after_best=_count(values, "after_best", 0),
        network_weight=_number(values, "network_weight", 1.0),
        weight=_number(values, "weight", 0.0),
        f1_weight=_number(values, "f1_weight", 0.0),
    )


def _typed(values: Mapping[str, Any], key: str, kind: type, default: Any = None) -> Any:
    value = values.get(key, default)
    if not isinstance(value, kind):
        raise ModelFormatError(
            f"config.json of the reranker: {key!r} is {value!r:.80}, must be a {kind.__name__}; "
            "export the reranker again"
        )
    return value


def _number(
    values: Mapping[str, Any], key: str, default: float, *, is_positive: bool = False
) -> float:
    value = values.get(key, default)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _LARGEST or (is_positive and not value):
        allowed = "above 0" if is_positive else "of at least 0"
        raise ModelFormatError(
            f"config.json of the reranker: {key!r} is {value!r:.80}, must be a number {allowed}; "
            "export the reranker again"
        )
    return float(value)


def _count(values: Mapping[str, Any], key: str, default: int) -> int:
    number = _number(values, key, default)
    if not number.is_integer():
        raise ModelFormatError(
            f"config.json of the reranker: {key!r} is {number}, must be a whole number; "
            "export the reranker again"
        )
    return int(number)


def _existing(path: str | os.PathLike[str]) -> Path:
    directory = Path(path)
    if not directory.is_dir():
        raise ModelNotFoundError(
            f"there is no reranker directory {directory}; rerank is a name such as 'mbr' or a "
            f"directory that holds {_PARTS}"
        )
    if not (directory / "config.json").is_file():
        raise ModelFormatError(
            f"{directory / 'config.json'} is missing; the directory of a reranker holds {_PARTS}"
        )
    return directory


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names) or "an unnamed model"


def _session(files: ModelFiles, n_threads: int, shape: RerankerShape) -> Any:
    directory = files.directory
    file = next((file for file in map(files.path, _GRAPHS) if file.is_file()), None)
    if file is None:
        raise ModelFormatError(
            f"{directory} holds no {' or '.join(_GRAPHS)}; "
            f"run: sumfit export {directory}, or copy the reranker again"
        )
    session = open_session(file, n_threads=n_threads, remedy="export the reranker again")
    wanted = {"features"} if shape.n_features else set()
    if shape.encoder != "none":
        wanted |= {"source_ids", "candidate_ids"}
    found = {value.name for value in session.get_inputs()}
    if found != wanted:
        raise IncompatibleModelError(
            f"{file} reads {', '.join(sorted(found))}, config.json says "
            f"{', '.join(sorted(wanted))}; export the reranker again"
        )
    return session
