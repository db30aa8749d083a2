"""A tiny model directory for tests: weights by formula, no training, answers one can read.

Vertex j of S looks at source position floor((j - 1) T / (S - 2)) and emits that piece with high
probability, its neighbours in a formula-made embedding with little; links prefer to jump three to
four vertices ahead. So summaries are made of the source's own words in their order.
"""

from __future__ import annotations

import json
import lzma
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sumfit.models.config import N_SPECIAL, DATConfig
from sumfit.text import Tokenizer

if TYPE_CHECKING:
    import onnx

__all__ = ["TEXTS", "copy_graph", "write_model"]

TEXTS = (
    "Engineers closed the old bridge on Tuesday after an inspection found cracks in its supports.",
    "The central bank raised its key interest rate by a quarter point on Thursday to slow prices.",
    "A storm tore roofs from houses along the northern coast and left many homes without power.",
    "The town library will open at noon on Sundays and lend books for four weeks from June.",
    "Researchers found that animals living in warmer water grow faster but die younger.",
    "The company said on Wednesday it would close its oldest factory and cut many jobs.",
)
_WIDTH = 64
_SHARPNESS = 9.0
WORDS_KEPT = 4


def write_model(directory: Path, *, name: str = "tiny-copy") -> Path:
    """Write a complete model directory.

    Args:
        directory: Where; made if it is not there.
        name: The model's name.

    Returns:
        The directory.
    """
    import onnx  # not above: most quick tests need no model

    directory.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.train(TEXTS * 3, vocab_size=1200)
    tokenizer.save(directory / "tokenizer.json")
    architecture = DATConfig(
        vocab_size=tokenizer.vocab_size,
        width=_WIDTH,
        n_heads=1,
        n_link_heads=1,
        ffn_width=_WIDTH,
        n_encoder_layers=1,
        n_decoder_layers=1,
        max_source_tokens=96,
        min_vertices=32,
        max_vertices=96,
    )
    config = {
        "format": "sumfit-model-1",
        "name": name,
        "architecture": architecture.to_dict(),
        "tokenizer_sha256": tokenizer.fingerprint,
        "words_per_vertex": WORDS_KEPT,
        "ending": "eos",
        "bonus": {"words": 0.4, "default": 0.5},
        "mbr_temperature": 2.0,
        "profiles": ["natural", "gigaword"],
    }
    (directory / "config.json").write_text(json.dumps(config), encoding="utf-8")
    words = sorted({word.strip(".,").lower() for text in TEXTS for word in text.split()})
    (directory / "lexicon.txt.xz").write_bytes(lzma.compress("\n".join(words).encode()))
    onnx.save(copy_graph(tokenizer.vocab_size), str(directory / "model.fp32.onnx"))
    return directory


def copy_graph(vocab_size: int) -> onnx.ModelProto:
    """The network as an ONNX graph, with the inputs and outputs of the model format.

    Args:
        vocab_size: ``V``.

    Returns:
        The checked graph.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rows = np.arange(1, vocab_size + 1)[:, None] * np.sqrt(2.0) + np.arange(_WIDTH)[None, :] * 0.37
    embedding = np.sin(rows * (1 + np.arange(_WIDTH)[None, :] ** 1.5)).astype(np.float32)
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    special = np.zeros(vocab_size, dtype=np.float32)
    special[:N_SPECIAL] = -1e4
    constants = {
        "embedding": embedding,
        "embedding_t": np.ascontiguousarray(embedding.T) * np.float32(_SHARPNESS),
        "special": special,
        "zero": np.array(0, dtype=np.int64),
        "one": np.array(1, dtype=np.int64),
        "two": np.array(2, dtype=np.int64),
        "axis1": np.array([1], dtype=np.int64),
        "axis_last": np.array([2], dtype=np.int64),
        "minus_one": np.array([-1], dtype=np.int64),
        "flat": np.array([0, 1, -1], dtype=np.int64),
        "kept": np.array([WORDS_KEPT], dtype=np.int64),
        "minus_inf": np.array(-math.inf, dtype=np.float32),
        "very_low": np.array(-1e4, dtype=np.float32),
        "stride": np.array(3.5, dtype=np.float32),
        "steep": np.array(-0.6, dtype=np.float32),
        "last_index": np.array([WORDS_KEPT - 1], dtype=np.int64),
    }
    node = helper.make_node
    nodes = [
        node("Shape", ["source_ids"], ["source_shape"]),
        node("Shape", ["vertex_mask"], ["mask_shape"]),
        node("Gather", ["source_shape", "one"], ["T"]),
        node("Gather", ["mask_shape", "one"], ["S"]),
        # Which source position each vertex looks at.
        node("Range", ["zero", "S", "one"], ["vertex"]),
        node("Sub", ["vertex", "one"], ["before"]),
        node("Mul", ["before", "T"], ["scaled"]),
        node("Sub", ["S", "two"], ["inner"]),
        node("Div", ["scaled", "inner"], ["position"]),
        node("Sub", ["T", "one"], ["T_last"]),
        node("Max", ["position", "zero"], ["position_low"]),
        node("Min", ["position_low", "T_last"], ["position_in"]),
        node("Gather", ["source_ids", "position_in"], ["copied"], axis=1),
        # Words.
        node("Gather", ["embedding", "copied"], ["hidden"], axis=0),
        node("MatMul", ["hidden", "embedding_t"], ["raw_logits"]),
        node("Add", ["raw_logits", "special"], ["logits"]),
        node("LogSoftmax", ["logits"], ["word_logp"], axis=-1),
        node("TopK", ["word_logp", "kept"], ["top_logp", "top_ids"], axis=-1),
        node("Gather", ["top_logp", "last_index"], ["worst"], axis=2),
        node("Squeeze", ["worst", "axis_last"], ["other_logp"]),
        node("Reshape", ["top_ids", "flat_ids_shape"], ["flat_ids"]),
        node("Expand", ["flat_ids", "cand_shape"], ["flat_wide"]),
        node("GatherElements", ["word_logp", "flat_wide"], ["cand_logp"], axis=2),
        # Links.
        node("Cast", ["vertex"], ["vertex_f"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["vertex_f", "axis1"], ["from_f"]),
        node("Sub", ["vertex_f", "from_f"], ["jump"]),
        node("Sub", ["jump", "stride"], ["off"]),
        node("Abs", ["off"], ["distance"]),
        node("Mul", ["distance", "steep"], ["link_logits"]),
        node("Cast", ["zero"], ["zero_f"], to=TensorProto.FLOAT),
        node("Greater", ["jump", "zero_f"], ["forward"]),
        node("Unsqueeze", ["vertex_mask", "axis1"], ["mask_to"]),
        node("And", ["forward", "mask_to"], ["allowed"]),
        node("Where", ["allowed", "link_logits", "very_low"], ["link_masked"]),
        node("LogSoftmax", ["link_masked"], ["link_soft"], axis=-1),
        node("Where", ["allowed", "link_soft", "minus_inf"], ["link_logp"]),
    ]
    shape_nodes = [
        node("Gather", ["mask_shape", "zero"], ["B"]),
        node("Mul", ["S", "kept"], ["SM"]),
        node("Unsqueeze", ["B", "axis0"], ["B1"]),
        node("Unsqueeze", ["S", "axis0"], ["S1"]),
        node("Concat", ["B1", "axis1", "minus_one"], ["flat_ids_shape"], axis=0),
        node("Concat", ["B1", "S1", "SM"], ["cand_shape"], axis=0),
    ]
    constants["axis0"] = np.array([0], dtype=np.int64)
    del constants["flat"]
    int64, float32, boolean = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [*nodes[:4], *shape_nodes, *nodes[4:]],
        "copy",
        [info("source_ids", int64, ["B", "T"]), info("vertex_mask", boolean, ["B", "S"])],
        [
            info("top_ids", int64, ["B", "S", WORDS_KEPT]),
            info("cand_logp", float32, ["B", "S", "SM"]),
            info("other_logp", float32, ["B", "S"]),
            info("link_logp", float32, ["B", "S", "S"]),
        ],
        [numpy_helper.from_array(value, key) for key, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model
