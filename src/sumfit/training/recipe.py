"""The training recipe: every setting of a run, its default, and its checks.

Owns the dataclasses behind the TOML file and the checks that need no data. Does not own reading
TOML (`sumfit.config`) or acting on it (`sumfit.training.loop`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from sumfit.config import apply_overrides, build, read_toml
from sumfit.data.batching import BatchOptions
from sumfit.data.controls import ControlOptions
from sumfit.data.corpus import is_packed
from sumfit.data.denoising import DenoiseOptions
from sumfit.data.folds import Fold
from sumfit.data.sets import PackOptions, SetSpec
from sumfit.errors import ConfigError
from sumfit.models.config import DATConfig, SystemName
from sumfit.training.recipe_files import batch_problems, data_problems, start_problems
from sumfit.training.start import tokenizer_file, with_start

__all__ = [
    "DataSection",
    "LossSection",
    "OptimizerSection",
    "Recipe",
    "RunSection",
    "StartSection",
    "ValidationSection",
    "load_recipe",
    "recipe_problems",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DataSection:
    """Which texts, and how they become batches.

    Attributes:
        corpus: Packed corpus to train on; ``output_dir/corpus``, made on demand, if empty.
        tokenizer: Tokenizer file, or ``default`` for that of the embedded model; trained on the
            training texts if empty.
        vocab_size: Pieces of a tokenizer that is trained.
        sets: The data sets.
        profiles: Train on these text profiles only; on all that were packed if empty.
        max_source: Pieces at which a source is cut.
        max_target: Longest summary in pieces; longer ones are left out and counted.
        max_valid: Validation pairs kept of each set.
        max_pairs: Training pairs used, drawn evenly from all that were packed, the same ones at
            every epoch; 0 for all. For a learning curve: with one seed, a smaller number takes a
            part of what a larger one takes.
        leave_out: Fold of the training pairs that is not learned from, such as ``0/2``, so that
            a reranker can be trained on what the model makes of it; empty for none.
        lists: Directories of n-best lists of the training pairs, for ``loss.risk_weight``; pairs
            without a list are left out, and of two lists of a pair the first counts.
        controls: How often sources are told style and length by control pieces; never, if both
            shares are 0.
        on_bad: Whether a record that does not parse stops packing or is counted.
        batch_tokens: Cost of a batch on one device, padding and S² included.
        square_tokens: S² divided by this counts as tokens.
        pad_multiple: Lengths are padded to multiples of this.
        max_items: Most pairs in a batch.
    """

    corpus: str = ""
    tokenizer: str = ""
    vocab_size: int = 16384
    sets: tuple[SetSpec, ...] = ()
    profiles: tuple[str, ...] = ()
    max_source: int = 192
    max_target: int = 64
    max_valid: int = 1000
    max_pairs: int = 0
    leave_out: str = ""
    lists: tuple[str, ...] = ()
    controls: ControlOptions = field(default_factory=ControlOptions)
    on_bad: Literal["raise", "skip"] = "skip"
    batch_tokens: int = 32768
    square_tokens: float = 128.0
    pad_multiple: int = 8
    max_items: int = 4096

    def __post_init__(self) -> None:
        if self.max_pairs < 0:
            raise ConfigError(f"max_pairs must be 0 or more, was {self.max_pairs}")
        Fold.parse(self.leave_out, name="leave_out")


@dataclass(frozen=True, slots=True)
class StartSection:
    """Weights to start from; random ones if all are empty.

    Attributes:
        minilm: MiniLM's weights for body and embeddings: its directory, a file made by
            ``sumfit data start-weights``, or ``installed`` for the package that carries them; or
            the directory of another BERT of the network's shape.
        model: Directory of an earlier sumfit model or checkpoint; ``default`` for the embedded one.
            What the recipe does not say of architecture and tokenizer is taken from there.
    """

    minilm: str = ""
    model: str = ""

    def __post_init__(self) -> None:
        if self.minilm and self.model:
            raise ConfigError("minilm and model exclude each other; give one of them")


@dataclass(frozen=True, slots=True)
class LossSection:
    """The objective.

    Attributes:
        label_smoothing: Share of the probability spread over all words.
        glance_start: Share of wrong words revealed at the first step.
        glance_end: The same once annealed.
        glance_steps: Steps of the annealing; the whole run if 0.
        ngram_weight: Share of the loss given to expected bigram matches (fuzzy alignment); for a
            second stage, on a model trained without it.
        risk_weight: Weight of the expected gain of ``data.lists`` (minimum risk); for a second
            stage, on the model that made them.
        mass_weight: Weight of keeping those candidates likely.
        scorer_weight: Weight of the cross-entropy of the scorer (``model.n_scorer_layers``).
        preference_weight: Weight of what the scorer learns from pairs of candidates of
            ``data.lists``: to prefer the one with the greater gain.
        verdict_weight: Weight of what its verdict (``model.verdict_width``) learns from those
            candidates: which may be printed.
        denoise_share: Share of the batches that rebuild removed spans of their sources.
        denoise: How those are corrupted.
    """

    label_smoothing: float = 0.0
    glance_start: float = 0.5
    glance_end: float = 0.1
    glance_steps: int = 0
    ngram_weight: float = 0.0
    risk_weight: float = 0.0
    mass_weight: float = 0.0
    scorer_weight: float = 0.0
    preference_weight: float = 0.0
    verdict_weight: float = 0.0
    denoise_share: float = 0.0
    denoise: DenoiseOptions = field(default_factory=DenoiseOptions)

    def __post_init__(self) -> None:
        for name in ("glance_start", "glance_end", "ngram_weight", "denoise_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be between 0 and 1, was {getattr(self, name)}")
        if not 0 <= self.label_smoothing < 1:
            raise ConfigError(f"label_smoothing must be in [0, 1), was {self.label_smoothing}")
        for name in (
            "glance_steps",
            "risk_weight",
            "mass_weight",
            "scorer_weight",
            "preference_weight",
            "verdict_weight",
        ):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} must be 0 or more, was {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class OptimizerSection:
    """AdamW, its schedule, clipping and the moving average.

    Attributes:
        lr: Highest learning rate.
        warmup_steps: Steps of linear warm-up.
        schedule: Shape after warm-up. ``inverse-sqrt`` never ends; ``linear`` and ``cosine``
            reach ``final_share`` at ``max_steps``; ``time`` falls linearly to it at the
            wall-clock limit of the call; ``constant`` stays.
        hold: Share of the run at the full rate before ``linear``, ``cosine`` or ``time`` falls.
        final_share: Least share of ``lr``.
        beta1: Decay of the first moment.
        beta2: Decay of the second moment.
        eps: Added to the root of the second moment.
        weight_decay: Decay of matrices; norms, biases and embeddings have none.
        clip: Largest norm of the gradient; 0 for no clipping.
        ema_decay: Decay of the moving average of the weights; 0 for none.
    """

    lr: float = 4e-4
    warmup_steps: int = 600
    schedule: Literal["inverse-sqrt", "linear", "cosine", "time", "constant"] = "inverse-sqrt"
    hold: float = 0.0
    final_share: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.98
    eps: float = 1e-8
    weight_decay: float = 0.01
    clip: float = 0.5
    ema_decay: float = 0.999

    def __post_init__(self) -> None:
        if not self.lr > 0:
            raise ConfigError(f"lr must be above 0, was {self.lr}")
        for name in ("hold", "final_share", "beta1", "beta2", "ema_decay"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} must be in [0, 1), was {getattr(self, name)}")
        for name in ("warmup_steps", "weight_decay", "clip"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be 0 or more, was {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class RunSection:
    """How long, how precise, how often to look and to save.

    Attributes:
        max_steps: Steps of the whole run, over all calls.
        max_minutes: Wall-clock limit of one call, from its start to its end; 0 for none.
        reserve_seconds: Kept free before that limit, besides the time that saving took so far.
        accumulate: Batches of each process that make one step.
        precision: ``bf16`` autocast, ``fp32``, or ``auto``: bf16 on a GPU, fp32 on a CPU, most of
            which take many times as long for bf16.
        compile: Compile the model's blocks with torch.compile.
        log_every: Steps between two lines of the log.
        validate_every: Steps between two validations; 0 for only at the end.
        save_every: Steps between two checkpoints; 0 for only at the end.
        keep_last: Checkpoints kept besides the best one.
        patience: Validations without a new best after which training stops; 0 for never.
        max_bad_steps: Steps in a row with a gradient that is not finite, after which it stops.
    """

    max_steps: int = 100_000
    max_minutes: float = 0.0
    reserve_seconds: float = 15.0
    accumulate: int = 1
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    compile: bool = False
    log_every: int = 50
    validate_every: int = 1000
    save_every: int = 1000
    keep_last: int = 2
    patience: int = 0
    max_bad_steps: int = 20

    def __post_init__(self) -> None:
        least = {"max_steps": 1, "accumulate": 1, "log_every": 1, "keep_last": 1}
        least |= {"max_bad_steps": 1, "validate_every": 0, "save_every": 0, "patience": 0}
        least |= {"max_minutes": 0, "reserve_seconds": 0}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ConfigError(f"{name} must be at least {value}, was {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class ValidationSection:
    """What is measured at a validation.

    Attributes:
        n_loss: Validation pairs of each set for the loss.
        n_rouge: Validation pairs of each set that are decoded and scored; 0 for none.
        ratio: Word budget of the decoding, as a share of the source's words.
        words: Fixed word budget instead; 0 to use ``ratio``.
        metric: What decides which checkpoint is best: the loss, or R-Sum (the sum of
            ROUGE-1, 2 and L F1) over all decoded pairs.
    """

    n_loss: int = 500
    n_rouge: int = 0
    ratio: float = 0.25
    words: int = 0
    metric: Literal["loss", "rouge"] = "loss"

    def __post_init__(self) -> None:
        if self.metric == "rouge" and self.n_rouge == 0:
            raise ConfigError("metric rouge needs n_rouge above 0")
        if self.n_loss < 0 or self.n_rouge < 0 or self.words < 0 or self.ratio <= 0:
            raise ConfigError("n_loss, n_rouge and words must be 0 or more, ratio above 0")


@dataclass(frozen=True, slots=True)
class Recipe:
    """A whole training run.

    Attributes:
        name: Name of the run and of the model.
        output_dir: Where checkpoints and logs go.
        data_dir: Where relative names of data files start.
        seed: Seed of everything.
        system: What is trained: ``dat``, or a baseline of the same size: ``at`` (autoregressive
            Transformer), ``at-leninfo`` (the same, told the length), ``ctc``, ``bert-crf``.
        data: Texts and batches.
        model: Architecture; its ``vocab_size`` is the tokenizer's.
        start: Weights to start from.
        loss: The objective.
        optimizer: AdamW and its schedule.
        run: Length, precision, saving.
        validation: What is measured.
    """

    name: str
    output_dir: str = ""
    data_dir: str = ""
    seed: int = 1
    system: SystemName = "dat"
    data: DataSection = field(default_factory=DataSection)
    model: DATConfig = field(default_factory=DATConfig)
    start: StartSection = field(default_factory=StartSection)
    loss: LossSection = field(default_factory=LossSection)
    optimizer: OptimizerSection = field(default_factory=OptimizerSection)
    run: RunSection = field(default_factory=RunSection)
    validation: ValidationSection = field(default_factory=ValidationSection)

    def __post_init__(self) -> None:
        problems = []
        if self.data.max_source > self.model.max_source_tokens:
            problems.append(
                f"data.max_source {self.data.max_source} is above model.max_source_tokens "
                f"{self.model.max_source_tokens}"
            )
        if not self.data.sets and not self.data.corpus:
            problems.append("data needs sets or a packed corpus")
        packed = {entry.profile for spec in self.data.sets for entry in spec.packed_sets}
        for profile in self.data.profiles if packed else ():
            if profile not in packed:
                problems.append(
                    f"data.profiles has {profile!r}, but the sets are packed as "
                    f"{', '.join(sorted(packed))}; name one of these, or change their profile"
                )
        if self.system == "at-leninfo" and self.model.n_limit_buckets < 2:
            problems.append(
                "system at-leninfo needs model.n_limit_buckets, one for each number of words left "
                f"(such as 64), was {self.model.n_limit_buckets}"
            )
        if self.system == "dat" and self.model.n_limit_buckets:
            problems.append(
                "model.n_limit_buckets is of system at-leninfo alone, and system dat is told no "
                f"length, so it must be 0, was {self.model.n_limit_buckets}; leave it out, or set "
                "system to at-leninfo"
            )
        problems += _risk_problems(self)
        for name in ("scorer_weight", "preference_weight"):
            value = getattr(self.loss, name)
            if value and not self.model.n_scorer_layers:
                problems.append(
                    f"loss.{name} is {value:g}, but model.n_scorer_layers is 0: there is no "
                    "scorer to train; set one of them"
                )
        if self.loss.verdict_weight and not self.model.verdict_width:
            problems.append(
                f"loss.verdict_weight is {self.loss.verdict_weight:g}, but model.verdict_width is "
                "0: there is no verdict to train; set one of them (64 is enough)"
            )
        if self.seed < 0:
            problems.append(f"seed is {self.seed}, but has to be 0 or more")  # a key, no option
        if problems:
            raise ConfigError("\n".join(problems))

    @property
    def output(self) -> Path:
        """Where checkpoints and logs go: ``output_dir``, or ``runs/NAME``."""
        return Path(self.output_dir) if self.output_dir else Path("runs") / self.name

    @property
    def corpus(self) -> Path:
        """Directory of the packed corpus."""
        return Path(self.data.corpus) if self.data.corpus else self.output / "corpus"

    @property
    def known_tokenizer(self) -> Path | None:
        """The tokenizer's file: that of the packed corpus, or the one named; ``None`` for none."""
        files = [self.corpus / "tokenizer.json"] if is_packed(self.corpus) else []
        if named := tokenizer_file(self.data.tokenizer):
            files.append(named)
        return next((file for file in files if file.is_file()), None)

    @property
    def pack_options(self) -> PackOptions:
        """Filters of packing."""
        return PackOptions(
            max_source=self.data.max_source,
            max_target=self.data.max_target,
            on_bad=self.data.on_bad,
            max_valid=self.data.max_valid,
            **self._graph_rule(),
        )

    @property
    def batch_options(self) -> BatchOptions:
        """Size and padding of batches."""
        return BatchOptions(
            batch_tokens=self.data.batch_tokens,
            square_tokens=self.data.square_tokens,
            pad_multiple=self.data.pad_multiple,
            max_items=self.data.max_items,
            max_source=self.data.max_source,
            **self._graph_rule(),
        )

    def data_problems(self) -> list[str]:
        """List what is wrong with the files that the recipe names.

        Returns:
            One sentence for each problem; files of sets count only if there is no corpus yet.
        """
        problems = data_problems(self.data, Path(self.data_dir), self.corpus)
        problems += batch_problems(self.batch_options)
        return problems + start_problems(self.start, self.system, self.model, self.known_tokenizer)

    def with_vocab(self, vocab_size: int) -> Recipe:
        """Fix the number of pieces, known once there is a tokenizer.

        Args:
            vocab_size: Pieces of the tokenizer.

        Returns:
            A changed copy.
        """
        return dataclasses.replace(
            self, model=dataclasses.replace(self.model, vocab_size=vocab_size)
        )

    def _graph_rule(self) -> dict[str, Any]:
        model = self.model
        return {
            "vertex_scale": model.vertex_scale,
            "min_vertices": model.min_vertices,
            "max_vertices": model.max_vertices,
        }


def load_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read and check a recipe file.

    Args:
        path: TOML file.
        overrides: ``key=value`` words that change it.

    Returns:
        The recipe.

    Raises:
        ConfigError: If anything in it is unknown, missing or of the wrong type; all is listed.
    """
    return _build(_filled(read_toml(path, overrides), path))


def recipe_problems(path: str | Path, overrides: Sequence[str] = ()) -> list[str]:
    """List everything that keeps a recipe from being used: its own mistakes and its files'.

    Args:
        path: TOML file.
        overrides: ``key=value`` words that change it.

    Returns:
        One sentence for each problem; empty if there is none.
    """
    values, problems = read_toml(path), list[str]()
    for word in overrides:
        try:
            values = apply_overrides(values, [word])
        except ConfigError as error:
            problems += str(error).splitlines()
    values = _filled(values, path)
    try:
        return problems + _build(values).data_problems()
    except ConfigError as error:
        problems += str(error).splitlines()
    # The recipe is wrong, but parts of it may be right enough for their files to be looked at.
    data = _part(DataSection, values, "data")
    data_dir = values.get("data_dir", "")
    if data is not None and isinstance(data_dir, str):
        corpus = Path(data.corpus) if data.corpus else None
        problems += data_problems(data, Path(data_dir), corpus)
    start, system = _part(StartSection, values, "start"), values.get("system", "dat")
    if start is not None and system in get_args(SystemName):
        problems += start_problems(start, system, _part(DATConfig, values, "model"))
    return problems


def _risk_problems(recipe: Recipe) -> list[str]:
    """What does not go together with n-best lists, or with their weights."""
    loss, problems = recipe.loss, list[str]()
    weights = {
        f"loss.{name}": getattr(loss, name)
        for name in ("risk_weight", "mass_weight", "preference_weight", "verdict_weight")
    }
    told = ", ".join(f"{name} {value:g}" for name, value in weights.items())
    if not recipe.data.lists:
        if any(weights.values()):
            problems.append(
                f"these weights are of n-best lists, but data.lists names none: {told}; make "
                "lists with sumfit nbest, or set all of them to 0"
            )
        return problems
    if not any(weights.values()):
        problems.append(
            f"data.lists are read for {', '.join(weights)}, but all are 0; set one of them, or "
            "leave data.lists out"
        )
    if recipe.system != "dat":
        problems.append(f"data.lists are for system dat alone, was {recipe.system}; leave them out")
    for name in ("glance_start", "glance_end", "ngram_weight", "denoise_share"):
        if value := getattr(loss, name):
            problems.append(f"loss.{name} must be 0 with data.lists, was {value:g}")
    return problems


def _part(kind: type[T], values: Mapping[str, Any], name: str) -> T | None:
    try:
        return build(kind, values.get(name, {}), where=name)
    except ConfigError:
        return None


def _filled(values: dict[str, Any], path: str | Path) -> dict[str, Any]:
    """The values with what the file's name and the model it starts from say."""
    values.setdefault("name", Path(path).stem)
    return with_start(values)


def _build(values: dict[str, Any]) -> Recipe:
    model, problems = values.get("model"), list[str]()
    if isinstance(model, dict) and "vocab_size" in model:
        problems.append("model.vocab_size is the tokenizer's; set data.vocab_size instead")
        values = {**values, "model": {k: v for k, v in model.items() if k != "vocab_size"}}
    try:
        recipe = build(Recipe, values)
    except ConfigError as error:
        raise ConfigError("\n".join([*problems, str(error)])) from None
    if problems:
        raise ConfigError("\n".join(problems))
    return recipe
