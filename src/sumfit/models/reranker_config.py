"""The shape of a neural reranker as data, readable without torch.

Owns the numbers that fix the network. Does not own the network (`sumfit.models.reranker`) or what
surrounds it at run time (`sumfit.rerank.neural`).
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sumfit.config import check_fields
from sumfit.errors import ConfigError

__all__ = ["RERANKER_FORMAT", "EncoderKind", "Head", "RerankerShape", "reader_file"]

RERANKER_FORMAT = "sumfit-reranker-1"

EncoderKind = Literal["bert", "roberta", "sumfit", "none"]
Head = Literal["rank", "pooled"]


@dataclass(frozen=True, slots=True)
class RerankerShape:
    """Shape of an encoder, one joint layer over all candidates, and a head.

    Attributes:
        encoder: Family of the encoder, which says how texts become ids: ``bert`` and ``roberta``
            with begin and end marks, ``sumfit`` (the encoder of a DAT) without. ``none``: there is
            no encoder and no joint layer, the head reads the features alone, and all numbers of
            those layers mean nothing.
        vocab_size: ``V`` of the encoder's own tokenizer.
        pad_id: Id of padding.
        width: ``D``.
        n_heads: Attention heads; must divide ``width``.
        ffn_width: Inner width of the feed-forward layers.
        n_layers: Encoder blocks.
        n_positions: Longest text, marks included, in pieces.
        max_source: Pieces at which a source is cut, marks included.
        max_candidate: Pieces at which a candidate is cut, marks included.
        n_candidates: ``K``, the longest list that it ranks.
        order_weight: Candidates are given in the order of ``score + order_weight * F1`` with F1
            the expected F1 of `sumfit.rerank.graph`, the first ``K`` of them; 0 for the search's
            own order.
        rank_embedding: Add a learned embedding of a candidate's place to each of its words.
        head: ``rank``, the paper's: all words pooled together, one output for each rank;
            ``pooled``: the words of each candidate pooled, one score each.
        n_features: Numbers that the ``pooled`` head reads of each candidate.
        head_width: Inner width of the ``pooled`` head.
        dropout: Drop rate while training.
        layer_norm_eps: Added to the variance in every layer norm.
    """

    encoder: EncoderKind = "bert"
    vocab_size: int = 30522
    pad_id: int = 0
    width: int = 384
    n_heads: int = 12
    ffn_width: int = 1536
    n_layers: int = 6
    n_positions: int = 512
    max_source: int = 128
    max_candidate: int = 48
    n_candidates: int = 20
    order_weight: float = 0.0
    rank_embedding: bool = True
    head: Head = "pooled"
    n_features: int = 0
    head_width: int = 128
    dropout: float = 0.1
    layer_norm_eps: float = 1e-12

    def __post_init__(self) -> None:
        """Raise unless a network can be built from these numbers."""
        problems = [
            f"{name} must be at least {least}, was {getattr(self, name)}"
            for name, least in _LEAST.items()
            if getattr(self, name) < least
        ]
        if not problems and self.width % self.n_heads:
            problems.append(f"width {self.width} must be a multiple of n_heads {self.n_heads}")
        for name, allowed in (("encoder", get_args(EncoderKind)), ("head", get_args(Head))):
            if getattr(self, name) not in allowed:
                problems.append(f"{name} must be one of {allowed}, was {getattr(self, name)!r}")
        if not 0 <= self.order_weight < math.inf:
            problems.append(f"order_weight must be at least 0 and finite, was {self.order_weight}")
        if not 0 <= self.dropout < 1:
            problems.append(f"dropout must be in [0, 1), was {self.dropout}")
        if max(self.max_source, self.max_candidate) > self.n_positions:
            problems.append(
                f"max_source {self.max_source} and max_candidate {self.max_candidate} must be at "
                f"most n_positions {self.n_positions}"
            )
        if self.encoder == "none" and (self.head != "pooled" or not self.n_features):
            problems.append(
                f"without an encoder head must be 'pooled' and n_features above 0, were "
                f"{self.head!r} and {self.n_features}"
            )
        if problems:
            raise ConfigError("; ".join(problems))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, for ``config.json``."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> RerankerShape:
        """Build a shape from `to_dict`'s data.

        Args:
            fields: Name and value of each field; missing ones take their default.

        Returns:
            The shape.

        Raises:
            ConfigError: If a name is unknown, a type is wrong or a value cannot be used.
        """
        check_fields(cls, fields)
        return cls(**fields)


def reader_file(kind: EncoderKind) -> str:
    """Name the file by which a reranker reads texts.

    Args:
        kind: Family of its encoder.

    Returns:
        ``phrases.npz`` without an encoder, the encoder's ``tokenizer.json`` otherwise.
    """
    return "phrases.npz" if kind == "none" else "tokenizer.json"


_LEAST = {
    "vocab_size": 2,
    "pad_id": 0,
    "width": 1,
    "n_heads": 1,
    "ffn_width": 1,
    "n_layers": 1,
    "n_positions": 3,
    "max_source": 3,
    "max_candidate": 3,
    "n_candidates": 1,
    "n_features": 0,
    "head_width": 1,
}
