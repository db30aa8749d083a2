"""The scorer as an ONNX graph: a tree of candidates in, the next word at each of its nodes out.

Owns the translation of `sumfit.models.dat.DAT.read` to ONNX operators. Candidates that begin alike
share their first words: each node of the tree sees its ancestors and itself, so its state is that
of the word in any candidate that it belongs to. Word embeddings are not in the file: the caller
gives the rows of the nodes and of the words that may come next (`sumfit.runtime.scorer`).

Inputs: ``words`` ``(1, N, D)`` embeddings of the nodes, the start word at node 0; ``places`` int64
``(N,)`` their depth; ``sees`` bool ``(N, N)``, whether a node sees another; ``memory``
``(1, T, D)`` the encoded source; ``choices`` ``(W, D)`` embeddings of the words that may follow.
Outputs: ``next_logp`` ``(1, N, W)``, natural logs, normalised over these words; and ``verdict``
``(1, N)``, the logit that the candidate which ends at a node may be printed, where the network has
a verdict.
"""

from __future__ import annotations

import os

import numpy as np
import torch
from onnx import TensorProto, helper

from sumfit.errors import ConfigError
from sumfit.models.config import SCORER_POSITIONS
from sumfit.models.dat import DAT, Verdict
from sumfit.models.layers import Block
from sumfit.models.onnx_blocks import BlockWriter
from sumfit.models.onnx_graph import MICROSOFT, GraphWriter

__all__ = ["export_scorer"]


@torch.no_grad()
def export_scorer(model: DAT, path: str | os.PathLike[str], *, precision: str = "int8") -> None:
    """Write the scorer of a network as an ONNX file for onnxruntime.

    Args:
        model: The network; on any device.
        path: File to write.
        precision: ``"fp32"`` or ``"int8"``, as in `sumfit.models.export.export_onnx`.

    Raises:
        ConfigError: If the network has no scorer.
    """
    if not model.config.n_scorer_layers:
        raise ConfigError("the network has no scorer (n_scorer_layers is 0)")
    write = GraphWriter(is_int8=precision == "int8")
    blocks = BlockWriter(write, model.config.n_heads)
    entry, width = model.scorer_entry, model.config.width
    table = entry.position.weight[:SCORER_POSITIONS].detach().cpu().numpy()
    stored = table.astype(np.float16) if write.is_int8 else table
    places = write.op("Gather", write.constant("position", stored), "places")
    if write.is_int8:
        places = write.op("Cast", places, to=TensorProto.FLOAT)
    x = blocks.norm(write.op("Add", "words", places), "norm", entry.norm)
    hidden_from = write.op("Where", "sees", write.number(0.0), write.number(-1e9))
    one = write.op("Unsqueeze", hidden_from, write.ints(0, 1))
    n_nodes = write.op("Shape", "places")
    shape = write.op("Concat", write.ints(1, model.config.n_heads), n_nodes, n_nodes, axis=0)
    bias = write.op("Expand", one, shape)
    for index, block in enumerate(model.scorer):
        assert isinstance(block, Block)
        name = f"scorer.{index}"
        x = blocks.self_attend(x, "", name, block, attention_bias=bias)
        x = blocks.cross_attend(x, "memory", "", name, block)
        x = blocks.feed_forward(x, name, block)
    turned = write.op("Transpose", "choices", perm=[1, 0])
    write.node("LogSoftmax", [write.op("MatMul", x, turned)], name="next_logp", axis=-1)
    outputs = [helper.make_tensor_value_info("next_logp", TensorProto.FLOAT, [1, "N", "W"])]
    if model.verdict is not None:
        _write_verdict(write, model.verdict, x)
        outputs.append(helper.make_tensor_value_info("verdict", TensorProto.FLOAT, [1, "N"]))
    write.save(
        path,
        inputs=[
            helper.make_tensor_value_info("words", TensorProto.FLOAT, [1, "N", width]),
            helper.make_tensor_value_info("places", TensorProto.INT64, ["N"]),
            helper.make_tensor_value_info("sees", TensorProto.BOOL, ["N", "N"]),
            helper.make_tensor_value_info("memory", TensorProto.FLOAT, [1, "T", width]),
            helper.make_tensor_value_info("choices", TensorProto.FLOAT, ["W", width]),
        ],
        outputs=outputs,
        about={"format": "sumfit-scorer-1", "precision": precision},
    )


def _write_verdict(write: GraphWriter, verdict: Verdict, x: str) -> None:
    """Write the verdict of each node from its state, the mean on its way, and the source's."""
    seen = write.op("Cast", "sees", to=TensorProto.FLOAT)
    share = write.op("Div", seen, write.op("ReduceSum", seen, write.ints(-1), keepdims=1))
    mean = write.op("MatMul", share, x)
    source = write.op("ReduceMean", "memory", write.ints(1), keepdims=1)
    source = write.op("Expand", source, write.op("Shape", x))
    features = write.op("Concat", x, mean, source, axis=-1)
    inner = write.product(features, "verdict.inner", verdict.inner.weight)
    bias = write.vector("verdict.inner.bias", verdict.inner.bias)
    inner = write.op("BiasGelu", inner, bias, domain=MICROSOFT)
    logit = write.product(inner, "verdict.out", verdict.out.weight)
    logit = write.op("Add", logit, write.vector("verdict.out.bias", verdict.out.bias))
    write.node("Squeeze", [logit, write.ints(-1)], name="verdict")
