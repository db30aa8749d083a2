"""The architecture of a model as data, readable without torch.

Owns the numbers that fix a model's shape and the rule for the size of its graph. Does not own the
network (`sumfit.models.dat`).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sumfit.config import check_fields
from sumfit.errors import ConfigError

__all__ = [
    "BOS",
    "EOS",
    "FORMAT",
    "INSTALLED",
    "MASK",
    "N_SPECIAL",
    "PAD",
    "SCORER_FILES",
    "SCORER_POSITIONS",
    "SYSTEMS",
    "DATConfig",
    "SystemName",
    "architecture_differences",
]

FORMAT = "sumfit-model-1"
"""What ``config.json`` of a model directory says that it is."""

INSTALLED = "installed"
"""In place of a directory of pretrained weights: those of an installed package."""

SCORER_FILES = {"model.onnx": "scorer.onnx", "model.fp32.onnx": "scorer.fp32.onnx"}
"""The scorer's file beside each exported network."""

SCORER_POSITIONS = 96
"""Longest candidate in pieces, its start included; longer ones are scored by their beginning."""

PAD, BOS, EOS, MASK = 0, 1, 2, 3
N_SPECIAL = 4  # ids below this one are never emitted by an inner vertex

SystemName = Literal["dat", "at", "at-leninfo", "ctc", "bert-crf"]
SYSTEMS: tuple[str, ...] = get_args(SystemName)

_UNUSED: dict[str, tuple[str, ...]] = {
    "dat": ("n_limit_buckets", "transition_rank", "n_candidates"),
    "at": (
        "n_link_heads",
        "n_limit_buckets",
        "n_scorer_layers",
        "verdict_width",
        "transition_rank",
        "n_candidates",
    ),
    "at-leninfo": (
        "n_link_heads",
        "n_scorer_layers",
        "verdict_width",
        "transition_rank",
        "n_candidates",
    ),
    "ctc": (
        "n_link_heads",
        "n_limit_buckets",
        "n_scorer_layers",
        "verdict_width",
        "transition_rank",
        "n_candidates",
    ),
    "bert-crf": ("n_link_heads", "n_limit_buckets", "n_scorer_layers", "verdict_width"),
}
# Weights mean the same whatever these are: how large graphs are made up to `max_vertices`, how
# many labels are looked at. Training on may change them, as it may the drop rate, and may begin a
# verdict.
_ADJUSTABLE = ("vertex_scale", "min_vertices", "n_candidates", "verdict_width")


@dataclass(frozen=True, slots=True)
class DATConfig:
    """Shape of an encoder and graph decoder; the defaults fit MiniLM-L6-H384's weights.

    The baselines are built from the same numbers, so that equal ones give equal sizes. What a
    system has no use for, such as the link heads of an autoregressive model, it leaves alone; the
    rule for the graph also decides which pairs are trained on and what a batch costs, for all.

    Attributes:
        vocab_size: ``V``, special ids included.
        width: ``D``.
        n_heads: Attention heads; must divide ``width``.
        n_link_heads: Heads of the link distribution; must divide ``width``.
        ffn_width: Inner width of the feed-forward layers.
        n_encoder_layers: Encoder blocks.
        n_decoder_layers: Blocks of the decoder: of graphs, or of the upper half of a baseline.
        n_scorer_layers: Blocks of an autoregressive decoder beside the graph decoder, which scores
            whole candidates; 0 for none. Only ``dat`` has them.
        verdict_width: Inner width of what says, of a candidate that the scorer has read, whether it
            may be printed; 0 for none. It needs a scorer.
        max_source_tokens: Longest source, in tokens.
        vertex_scale: Graph vertices per source token.
        min_vertices: Smallest graph.
        max_vertices: Largest graph; for an autoregressive decoder its longest row.
        n_limit_buckets: Embeddings of the length left, one for each number of words, 0 included;
            only ``at-leninfo`` has them, and needs them.
        transition_rank: Columns of the two tables whose product scores pairs of labels; only
            ``bert-crf`` has them.
        n_candidates: Labels of each slot that such scores are computed for; only ``bert-crf``.
        dropout: Drop rate of embeddings and of each sub-layer's output while training.
        layer_norm_eps: Added to the variance in every layer norm.
    """

    vocab_size: int = 16384
    width: int = 384
    n_heads: int = 12
    n_link_heads: int = 12
    ffn_width: int = 1536
    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    n_scorer_layers: int = 0
    verdict_width: int = 0
    max_source_tokens: int = 512
    vertex_scale: float = 1.0
    min_vertices: int = 32
    max_vertices: int = 128
    n_limit_buckets: int = 0
    transition_rank: int = 32
    n_candidates: int = 64
    dropout: float = 0.1
    layer_norm_eps: float = 1e-12

    def __post_init__(self) -> None:
        """Raise unless a network can be built from these numbers."""
        problems = [
            f"{name} must be at least {least}, was {getattr(self, name)}"
            for name, least in _LEAST.items()
            if getattr(self, name) < least
        ]
        if not problems:
            problems += [
                f"width {self.width} must be a multiple of {name} {getattr(self, name)}"
                for name in ("n_heads", "n_link_heads")
                if self.width % getattr(self, name)
            ]
        if self.verdict_width and not self.n_scorer_layers:
            problems.append(
                f"verdict_width {self.verdict_width} needs a scorer, but n_scorer_layers is 0"
            )
        if not 0 < self.vertex_scale < math.inf:
            problems.append(f"vertex_scale must be above 0, was {self.vertex_scale}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout must be in [0, 1), was {self.dropout}")
        if self.max_vertices < self.min_vertices:
            problems.append(
                f"max_vertices {self.max_vertices} is below min_vertices {self.min_vertices}"
            )
        if problems:
            raise ConfigError("; ".join(problems))

    def n_vertices(self, n_source: int, *, at_least: int = 0) -> int:
        """Return ``S`` of a text: clamp(ceil(scale * T), min, max), larger if the budget asks.

        Args:
            n_source: ``T``, source tokens.
            at_least: Vertices that the length budget needs, start and end included; counted up
                to ``max_vertices``.

        Returns:
            Number of vertices, start and end included.
        """
        wanted = max(math.ceil(self.vertex_scale * n_source), at_least, self.min_vertices)
        return min(wanted, self.max_vertices)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, for ``config.json``."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> DATConfig:
        """Build a configuration from `to_dict`'s data.

        Args:
            fields: Name and value of each field; missing ones take their default.

        Returns:
            The configuration.

        Raises:
            ConfigError: If a name is unknown, a type is wrong or a value cannot be used.
        """
        check_fields(cls, fields)
        return cls(**fields)


def architecture_differences(
    there: DATConfig, here: DATConfig, system: str, *, may_adjust: bool
) -> str:
    """Say in which numbers two architectures differ for which weights would not mean the same.

    Many of these change no tensor's shape, such as the number of heads: weights would be read
    without complaint into a network that they were not made for.

    Args:
        there: The architecture that weights were made in.
        here: The one that they are wanted for.
        system: Of both; what it has no use for is not compared.
        may_adjust: Training goes on here, so the size of graphs may be another one.

    Returns:
        Name and both values of each, such as ``n_heads is 12 there and 6 here``; empty for none.
    """
    free = {"dropout", *_UNUSED[system], *(_ADJUSTABLE if may_adjust else ())}
    names = [field.name for field in dataclasses.fields(DATConfig) if field.name not in free]
    return ", ".join(
        f"{name} is {getattr(there, name)} there and {getattr(here, name)} here"
        for name in names
        if getattr(there, name) != getattr(here, name)
    )


_LEAST = {
    "vocab_size": N_SPECIAL + 1,
    "width": 1,
    "n_heads": 1,
    "n_link_heads": 1,
    "ffn_width": 1,
    "n_encoder_layers": 1,
    "n_decoder_layers": 1,
    "n_scorer_layers": 0,
    "verdict_width": 0,
    "max_source_tokens": 1,
    "min_vertices": 3,
    "n_limit_buckets": 0,
    "transition_rank": 1,
    "n_candidates": 2,
}
