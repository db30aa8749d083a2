"""The blocks of `sumfit.models.layers` as ONNX operators.

Owns attention, feed-forward and norm. Does not own any whole network (`sumfit.models.export`,
`sumfit.models.export_reranker`).
"""

from __future__ import annotations

import torch
from torch import nn

from sumfit.models.layers import Block
from sumfit.models.onnx_graph import MICROSOFT, GraphWriter

__all__ = ["BlockWriter"]


class BlockWriter:
    """Translates blocks; values are names in the graph."""

    def __init__(self, write: GraphWriter, n_heads: int) -> None:
        """Store what all blocks share.

        Args:
            write: The graph.
            n_heads: Attention heads.
        """
        self.write = write
        self.n_heads = n_heads

    def self_attend(
        self, x: str, mask: str, name: str, block: Block, *, attention_bias: str = ""
    ) -> str:
        """Write attention to the rows of the same item, with residual sum and norm.

        Args:
            x: ``(B, S, D)`` states.
            mask: ``(B, S)`` int32, 1 = real; empty for all.
            name: Prefix of its constants.
            block: The block.
            attention_bias: ``(B, H, S, S)`` added to the scores; empty for nothing.

        Returns:
            ``(B, S, D)`` states.
        """
        packed = self.write.product(x, f"{name}.self_qkv", block.self_qkv.weight)
        query, key, value = self.write.node("Split", [packed], n_outputs=3, axis=-1, num_outputs=3)
        bias = self.write.vector(f"{name}.self_qkv.bias", block.self_qkv.bias)
        mixed = self._attention(query, key, value, bias, mask, attention_bias)
        return self._add(x, mixed, f"{name}.self", block.self_out, block.self_norm)

    def cross_attend(self, x: str, memory: str, source_mask: str, name: str, block: Block) -> str:
        """Write attention to the source, with residual sum and norm.

        Args:
            x: ``(B, S, D)`` states.
            memory: ``(B, T, D)`` encoded source.
            source_mask: ``(B, T)`` int32, 1 = real; empty for all.
            name: Prefix of its constants.
            block: The block.

        Returns:
            ``(B, S, D)`` states.
        """
        query = self.write.product(x, f"{name}.cross_q", block.cross_q.weight)
        packed = self.write.product(memory, f"{name}.cross_kv", block.cross_kv.weight)
        key, value = self.write.node("Split", [packed], n_outputs=2, axis=-1, num_outputs=2)
        bias = torch.cat([block.cross_q.bias, block.cross_kv.bias])
        bias_name = self.write.vector(f"{name}.cross.bias", bias)
        mixed = self._attention(query, key, value, bias_name, source_mask)
        return self._add(x, mixed, f"{name}.cross", block.cross_out, block.cross_norm)

    def feed_forward(self, x: str, name: str, block: Block) -> str:
        """Write the feed-forward part, with residual sum and norm.

        Args:
            x: ``(B, S, D)`` states.
            name: Prefix of its constants.
            block: The block.

        Returns:
            ``(B, S, D)`` states.
        """
        inner = self.write.product(x, f"{name}.ffn_in", block.ffn_in.weight)
        bias = self.write.vector(f"{name}.ffn_in.bias", block.ffn_in.bias)
        inner = self.write.op("BiasGelu", inner, bias, domain=MICROSOFT)
        return self._add(x, inner, f"{name}.ffn", block.ffn_out, block.ffn_norm)

    def norm(self, x: str, name: str, norm: nn.LayerNorm) -> str:
        """Write a layer norm.

        Args:
            x: ``(..., D)`` rows.
            name: Prefix of its constants.
            norm: The norm.

        Returns:
            ``(..., D)`` rows.
        """
        weight = self.write.vector(f"{name}.weight", norm.weight)
        bias = self.write.vector(f"{name}.bias", norm.bias)
        return self.write.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=norm.eps)

    def _attention(
        self, query: str, key: str, value: str, bias: str, mask: str, attention_bias: str = ""
    ) -> str:
        return self.write.op(
            "MultiHeadAttention",
            query,
            key,
            value,
            bias,
            mask,
            *([attention_bias] if attention_bias else []),
            domain=MICROSOFT,
            num_heads=self.n_heads,
        )

    def _add(self, x: str, inner: str, name: str, linear: nn.Linear, norm: nn.LayerNorm) -> str:
        """Return norm(x + linear(inner)).

        In three operators: onnxruntime's fused one (SkipLayerNormalization) takes several times as
        long on a CPU.
        """
        write = self.write
        product = write.product(inner, f"{name}.out", linear.weight)
        product = write.op("Add", product, write.vector(f"{name}.out.bias", linear.bias))
        return self.norm(write.op("Add", product, x), f"{name}.norm", norm)
