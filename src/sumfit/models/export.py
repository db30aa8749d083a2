"""The network as one ONNX graph: source ids in, candidate words and links of the graph out.

Owns the translation of `sumfit.models.dat` to ONNX operators. What depends on weights alone is
computed here once: the vertex inputs after their norm, the position part of the links.

Inputs: ``source_ids`` int64 ``(B, T)``, pad 0; ``vertex_mask`` bool ``(B, S)``.
Outputs: ``top_ids`` int64 ``(B, S, M)``, ``cand_logp`` ``(B, S, S*M + P)``, ``other_logp``
``(B, S)``, ``link_logp`` ``(B, S, S)``, float32, natural logs, ``-inf`` where a link is impossible.
With ``P`` pinned words also ``pinned_ids`` int64 ``(P,)``: they are always the same, and the last
``P`` columns of ``cand_logp`` are theirs.

The graph of a network with a scorer has one more input, ``row_ids`` int64 ``(R,)``, and two more
outputs: ``rows`` ``(R, D)``, the embeddings of these words, which the scorer's own file
(`sumfit.models.export_scorer`) so need not hold again, and ``memory`` ``(B, T, D)``, the encoded
source.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from onnx import TensorProto, helper

from sumfit.errors import ConfigError
from sumfit.models.config import BOS, EOS, MASK, N_SPECIAL, PAD
from sumfit.models.dat import DAT
from sumfit.models.layers import Block
from sumfit.models.onnx_blocks import BlockWriter
from sumfit.models.onnx_graph import GraphWriter
from sumfit.options import WORDS_PER_VERTEX

__all__ = ["export_onnx"]

_WORDS = "embedding"


@torch.no_grad()
def export_onnx(
    model: DAT,
    path: str | os.PathLike[str],
    *,
    words_per_vertex: int = WORDS_PER_VERTEX,
    pinned_ids: Sequence[int] = (),
    precision: str = "int8",
) -> None:
    """Write the network as an ONNX file for onnxruntime.

    Args:
        model: The network; on any device.
        path: File to write.
        words_per_vertex: ``M``, words kept per vertex.
        pinned_ids: ``P`` words kept everywhere, however improbable.
        precision: ``"fp32"``, or ``"int8"``: a quarter of the size, weights per output channel,
            activations per row.

    Raises:
        ConfigError: If an option cannot be used.
    """
    n_words = model.config.vocab_size - N_SPECIAL
    if not 1 <= words_per_vertex <= n_words:
        raise ConfigError.of("words_per_vertex", words_per_vertex, f"must be in 1..{n_words}")
    if any(not N_SPECIAL <= word < model.config.vocab_size for word in pinned_ids):
        raise ConfigError(
            f"pinned_ids must be in {N_SPECIAL}..{model.config.vocab_size - 1}, "
            f"were {list(pinned_ids)}"
        )
    if precision not in ("fp32", "int8"):
        raise ConfigError.of("precision", precision, "must be 'fp32' or 'int8'")
    write = GraphWriter(is_int8=precision == "int8")
    network = _Network(write, model)
    memory, source_mask = network.encode()
    has_scorer = model.config.n_scorer_layers > 0
    if has_scorer:
        write.node("Identity", [memory], name="memory")
        write.node("Identity", [network.rows()], name="rows")
    hidden = network.decode(memory, source_mask)
    network.write_words(hidden, words_per_vertex, pinned_ids)
    network.write_links(hidden)
    write.save(
        path,
        inputs=_inputs(has_scorer=has_scorer),
        outputs=_outputs(has_pinned=len(pinned_ids) > 0, has_scorer=has_scorer),
        about={"format": "sumfit-onnx-1", "precision": precision},
    )


class _Network(BlockWriter):
    """Translates the parts of one network; values are names in the graph."""

    def __init__(self, write: GraphWriter, model: DAT) -> None:
        super().__init__(write, model.config.n_heads)
        self.model = model
        self.config = model.config
        self.n_source = write.op("Shape", "source_ids", start=1, end=2)
        self.n_vertices = write.op("Shape", "vertex_mask", start=1, end=2)

    def encode(self) -> tuple[str, str]:
        """Return ``(B, T, D)`` encoded tokens and their ``(B, T)`` int32 mask."""
        write, entry = self.write, self.model.source_entry
        words = write.lookup("source_ids", _WORDS, self.model.embedding.weight)
        position = write.positions("source_position", entry.position.weight, self.n_source)
        x = self.norm(write.op("Add", words, position), "source_norm", entry.norm)
        is_pad = write.op("Equal", "source_ids", write.constant("pad", np.array(PAD, np.int64)))
        mask = write.op("Cast", write.op("Not", is_pad), to=TensorProto.INT32)
        for index, block in enumerate(self.model.encoder):
            assert isinstance(block, Block)
            x = self.self_attend(x, mask, f"encoder.{index}", block)
            x = self.feed_forward(x, f"encoder.{index}", block)
        return x, mask

    def rows(self) -> str:
        """Return ``(R, D)`` embeddings of the words asked for."""
        return self.write.lookup("row_ids", _WORDS, self.model.embedding.weight)

    def decode(self, memory: str, source_mask: str) -> str:
        """Return ``(B, S, D)`` vertex states."""
        mask = self.write.op("Cast", "vertex_mask", to=TensorProto.INT32)
        x = self._vertex_inputs()
        for index, block in enumerate(self.model.decoder):
            assert isinstance(block, Block)
            name = f"decoder.{index}"
            x = self.self_attend(x, mask, name, block)
            x = self.cross_attend(x, memory, source_mask, name, block)
            x = self.feed_forward(x, name, block)
        return x

    def write_words(self, hidden: str, words_per_vertex: int, pinned_ids: Sequence[int]) -> None:
        """Write ``top_ids``, ``pinned_ids``, ``cand_logp`` and ``other_logp``."""
        write, words = self.write, self.model.embedding.weight
        logits = write.tied_logits(hidden, _WORDS, words, n_special=N_SPECIAL)
        best, top_ids = write.node("TopK", [logits, write.ints(words_per_vertex)], n_outputs=2)
        peak = write.op("Slice", best, write.ints(0), write.ints(1), write.ints(2))
        mass = write.op("Exp", write.op("Sub", logits, peak))
        total = write.op("Log", write.op("ReduceSum", mass, write.ints(-1), keepdims=1))
        total = write.op("Add", total, peak)
        flat = write.op("Reshape", top_ids, write.ints(0, 1, -1))
        if pinned_ids:
            flat = self._with_pinned(flat, pinned_ids)
        shape = write.op("Concat", write.ints(1), self.n_vertices, write.ints(1), axis=0)
        columns = write.op("Expand", flat, shape)
        chosen = write.op("GatherElements", logits, columns, axis=2)
        last = write.op(
            "Gather", best, write.constant("last", np.array(words_per_vertex - 1)), axis=2
        )
        write.node("Sub", [chosen, total], name="cand_logp")
        write.node("Sub", [last, write.op("Squeeze", total, write.ints(2))], name="other_logp")
        write.node("Identity", [top_ids], name="top_ids")

    def _with_pinned(self, flat: str, pinned_ids: Sequence[int]) -> str:
        """Write ``pinned_ids`` and append them to the ``(B, 1, S*M)`` words of each item."""
        write = self.write
        pinned = write.constant("pinned", np.array(pinned_ids, np.int64))
        n_items = write.op("Shape", flat, end=1)
        shape = write.op("Concat", n_items, write.ints(1, len(pinned_ids)), axis=0)
        write.node("Identity", [pinned], name="pinned_ids")
        return write.op("Concat", flat, write.op("Expand", pinned, shape), axis=2)

    def write_links(self, hidden: str) -> None:
        """Write ``link_logp``."""
        write, links = self.write, self.model.links
        width, n_heads = self.config.width, links.n_heads
        parts = [links.query, links.key, links.gate]
        weight = torch.cat([part.weight for part in parts])
        bias = torch.cat([part.bias for part in parts])
        # [hidden; position] W = hidden W_1 + position W_2, and the second part is fixed.
        fixed = links.position.weight @ weight[:, width:].T + bias
        scale = (width // n_heads) ** -0.25  # half on each side of the dot product
        stretch = torch.ones(weight.shape[0], 1, device=weight.device)
        stretch[: 2 * width] = scale
        product = write.product(hidden, "links", weight[:, :width] * stretch)
        position = write.positions("links.position", fixed * stretch[:, 0], self.n_vertices)
        sizes = write.ints(width, width, n_heads)
        query, key, gate = write.node(
            "Split", [write.op("Add", product, position), sizes], n_outputs=3, axis=-1
        )
        heads = write.ints(0, 0, n_heads, width // n_heads)
        query = write.op("Transpose", write.op("Reshape", query, heads), perm=[0, 2, 1, 3])
        key = write.op("Transpose", write.op("Reshape", key, heads), perm=[0, 2, 3, 1])
        gate = write.op("Transpose", write.op("LogSoftmax", gate, axis=-1), perm=[0, 2, 1])
        scores = write.op("MatMul", query, key)

        later = np.triu(np.ones((self.config.max_vertices,) * 2, np.bool_), 1)
        size = self.write.op("Concat", self.n_vertices, self.n_vertices, axis=0)
        later_name = write.op(
            "Slice", write.constant("later", later), write.ints(0, 0), size, write.ints(0, 1)
        )
        ends = [write.op("Unsqueeze", "vertex_mask", write.ints(axis)) for axis in (1, 2)]
        allowed = write.op("And", later_name, write.op("And", *ends))
        never = write.number(-np.inf)
        scores = write.op("Where", write.op("Unsqueeze", allowed, write.ints(1)), scores, never)
        # Rows without a later vertex are NaN from here on, and -inf again after the last line.
        mixed = write.op("Add", write.op("LogSoftmax", scores, axis=-1),
                         write.op("Unsqueeze", gate, write.ints(-1)))  # fmt: skip
        total = write.op("ReduceLogSumExp", mixed, write.ints(1), keepdims=0)
        write.node("Where", [allowed, total, never], name="link_logp")

    def _vertex_inputs(self) -> str:
        """Return what the first decoder block reads: start, inner or end vertex at a position."""
        write, entry = self.write, self.model.vertex_entry
        words = self.model.embedding.weight
        position = entry.position.weight
        inner, end = words[MASK] + position, words[EOS] + position
        inner[0] = words[BOS] + position[0]
        inner, end = entry.norm(inner), entry.norm(end)
        # A vertex is the last one if it is real and its right neighbour is not.
        right = write.op("Slice", "vertex_mask", write.ints(1), write.ints(1 << 30), write.ints(1))
        none = write.op("And", write.op("Slice", "vertex_mask", write.ints(0), write.ints(1),
                                        write.ints(1)),
                        write.constant("false", np.array([[False]])))  # fmt: skip
        follows = write.op("Concat", right, none, axis=1)
        is_end = write.op("And", "vertex_mask", write.op("Not", follows))
        return write.op(
            "Where",
            write.op("Unsqueeze", is_end, write.ints(-1)),
            write.positions("vertex_end", end, self.n_vertices),
            write.positions("vertex_inner", inner, self.n_vertices),
        )


def _inputs(*, has_scorer: bool) -> list[Any]:
    inputs = [
        helper.make_tensor_value_info("source_ids", TensorProto.INT64, ["B", "T"]),
        helper.make_tensor_value_info("vertex_mask", TensorProto.BOOL, ["B", "S"]),
    ]
    if has_scorer:
        inputs.append(helper.make_tensor_value_info("row_ids", TensorProto.INT64, ["R"]))
    return inputs


def _outputs(*, has_pinned: bool, has_scorer: bool) -> list[Any]:
    shapes = {
        "top_ids": ["B", "S", "M"],
        "cand_logp": ["B", "S", "S*M + P" if has_pinned else "S*M"],
        "other_logp": ["B", "S"],
        "link_logp": ["B", "S", "S"],
    }
    if has_pinned:
        shapes["pinned_ids"] = ["P"]
    if has_scorer:
        shapes |= {"memory": ["B", "T", "D"], "rows": ["R", "D"]}
    kinds = {"top_ids": TensorProto.INT64, "pinned_ids": TensorProto.INT64}
    return [
        helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), shape)
        for name, shape in shapes.items()
    ]
