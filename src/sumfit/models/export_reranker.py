"""The reranker as one ONNX graph: ids of a source and its candidates in, one logit each out.

Owns the translation of `sumfit.models.reranker` to ONNX operators.

Inputs: ``source_ids`` int64 ``(B, T)`` and ``candidate_ids`` int64 ``(B, K, U)``, padded with the
encoder's pad id; ``features`` float32 ``(B, K, F)`` if the head reads any. Without an encoder there
are the features alone.
Output: ``logits`` float32 ``(B, K)``, ``-inf`` where a candidate is all padding.
"""

from __future__ import annotations

import os

import numpy as np
import torch
from onnx import TensorProto, helper
from torch import nn

from sumfit.errors import ConfigError
from sumfit.models.layers import Block
from sumfit.models.onnx_blocks import BlockWriter
from sumfit.models.onnx_graph import GraphWriter
from sumfit.models.reranker import PooledHead, RankHead, Reranker

__all__ = ["export_reranker_onnx"]

_WORDS = "embedding"


@torch.no_grad()
def export_reranker_onnx(
    model: Reranker, path: str | os.PathLike[str], *, precision: str = "int8"
) -> None:
    """Write the network as an ONNX file for onnxruntime.

    Args:
        model: The network; on any device.
        path: File to write.
        precision: ``"fp32"``, or ``"int8"``: a quarter of the size, weights per output channel,
            activations per row.

    Raises:
        ConfigError: If the precision is not known.
    """
    if precision not in ("fp32", "int8"):
        raise ConfigError.of("precision", precision, "must be 'fp32' or 'int8'")
    write = GraphWriter(is_int8=precision == "int8")
    info = helper.make_tensor_value_info
    inputs = []
    if model.has_encoder:
        _Network(write, model).write_all()
        inputs = [
            info("source_ids", TensorProto.INT64, ["B", "T"]),
            info("candidate_ids", TensorProto.INT64, ["B", "K", "U"]),
        ]
    else:
        _write_head(write, ["features"], model.head, name="logits")
    if model.shape.n_features:
        inputs.append(info("features", TensorProto.FLOAT, ["B", "K", model.shape.n_features]))
    write.save(
        path,
        inputs=inputs,
        outputs=[info("logits", TensorProto.FLOAT, ["B", "K"])],
        about={"format": "sumfit-reranker-onnx-1", "precision": precision},
    )


class _Network(BlockWriter):
    """Translates one network."""

    def __init__(self, write: GraphWriter, model: Reranker) -> None:
        super().__init__(write, model.shape.n_heads)
        self.model = model
        self.n_ranks = write.op("Shape", "candidate_ids", start=1, end=2)

    def write_all(self) -> None:
        """Write ``logits``."""
        write, model = self.write, self.model
        memory, source_mask = self._encode("source_ids")
        size = write.op("Shape", "candidate_ids", start=2, end=3)
        flat = write.op(
            "Reshape", "candidate_ids", write.op("Concat", write.ints(-1), size, axis=0)
        )
        words, flat_mask = self._encode(flat)
        shape = write.op("Shape", "candidate_ids")
        mask = write.op("Reshape", flat_mask, shape)
        width = write.ints(model.shape.width)
        apart = write.op("Concat", shape, width, axis=0)
        words = write.op("Reshape", words, apart)
        if model.rank is not None:
            table = write.constant("rank", model.rank.weight)
            ranks = write.op("Slice", table, write.ints(0), self.n_ranks, write.ints(0))
            words = write.op("Add", words, write.op("Unsqueeze", ranks, write.ints(1)))
        joined = write.op("Reshape", words, write.ints(0, -1, model.shape.width))
        joined_mask = write.op("Reshape", mask, write.ints(0, -1))
        x = self.self_attend(joined, joined_mask, "joint", model.joint)
        x = self.cross_attend(x, memory, source_mask, "joint", model.joint)
        x = self.feed_forward(x, "joint", model.joint)
        weight = write.op("Cast", mask, to=TensorProto.FLOAT)
        read = write.op("Reshape", x, apart)
        head = model.head
        logits = (
            self._rank_head(read, weight, head)
            if isinstance(head, RankHead)
            else self._pooled_head(read, weight, head)
        )
        there = write.op("ReduceMax", weight, write.ints(-1), keepdims=0)
        is_there = write.op("Greater", there, write.number(0.0))
        write.node("Where", [is_there, logits, write.number(-np.inf)], name="logits")

    def _encode(self, ids: str) -> tuple[str, str]:
        """Return ``(N, T, D)`` encoded pieces and their ``(N, T)`` int32 mask."""
        write, model = self.write, self.model
        shape, entry = model.shape, model.entry
        longest = max(shape.max_source, shape.max_candidate)
        length = write.op("Shape", ids, start=1, end=2)
        words = write.lookup(ids, _WORDS, model.embedding.weight)
        position = write.positions("position", entry.position.weight[:longest], length)
        x = self.norm(write.op("Add", words, position), "entry.norm", entry.norm)
        is_pad = write.op("Equal", ids, write.constant("pad", np.array(shape.pad_id, np.int64)))
        mask = write.op("Cast", write.op("Not", is_pad), to=TensorProto.INT32)
        for index, block in enumerate(model.layers):
            assert isinstance(block, Block)
            x = self.self_attend(x, mask, f"layers.{index}", block)
            x = self.feed_forward(x, f"layers.{index}", block)
        return x, mask

    def _rank_head(self, words: str, weight: str, head: RankHead) -> str:
        """Pool all words; one output for each rank that is there."""
        pooled = self._mean(words, weight, (1, 2))
        logits = _linear(self.write, pooled, "head.out", head.out)
        write = self.write
        return write.op("Slice", logits, write.ints(0), self.n_ranks, write.ints(1))

    def _pooled_head(self, words: str, weight: str, head: nn.Module) -> str:
        """Pool each candidate's words; one score each."""
        assert isinstance(head, PooledHead)
        write = self.write
        parts = [self._mean(words, weight, (2,))]
        if self.model.shape.n_features:
            parts.append("features")
        return _write_head(write, parts, head)

    def _mean(self, words: str, weight: str, axes: tuple[int, ...]) -> str:
        """Average the real rows over some axes."""
        write = self.write
        wide = write.op("Unsqueeze", weight, write.ints(-1))
        total = write.op("ReduceSum", write.op("Mul", words, wide), write.ints(*axes), keepdims=0)
        count = write.op("ReduceSum", wide, write.ints(*axes), keepdims=0)
        return write.op("Div", total, write.op("Max", count, write.number(1.0)))


def _write_head(write: GraphWriter, parts: list[str], head: nn.Module, *, name: str = "") -> str:
    """One score for each candidate, from its pooled words, if any, and its features."""
    assert isinstance(head, PooledHead)
    features = [part for part in parts if part == "features"]
    hidden = write.op("Concat", *parts, axis=-1) if len(parts) > 1 else parts[0]
    inner = write.op("Gelu", _linear(write, hidden, "head.inner", head.inner))
    read = write.op("Concat", inner, *features, axis=-1) if features else inner
    scored = [_linear(write, read, "head.out", head.out), write.ints(-1)]
    if name:
        write.node("Squeeze", scored, name=name)
        return name
    return write.op("Squeeze", *scored)


def _linear(write: GraphWriter, x: str, name: str, linear: nn.Linear) -> str:
    """The head stays in float32: it is small, and everything hangs on it."""
    weight = write.constant(f"{name}.weight", linear.weight.T.float())
    product = write.op("MatMul", x, weight)
    return write.op("Add", product, write.constant(f"{name}.bias", linear.bias))
