"""The autoregressive Transformer: each word from the source and the words before it.

Owns the networks of the baselines ``at`` and ``at-leninfo``: the DAT's encoder, and a decoder of
the same blocks that sees no later word. Does not own their loss (`sumfit.losses.autoregressive`) or
the beam search (`sumfit.baselines`).

The length-informed one is told, before every word, how many words are left of the length it has
been asked for (remaining-length embedding: Kikuchi et al. 2016, "LenEmb"; Takase and Okazaki 2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.errors import ConfigError
from sumfit.models.attention import causal_attend, cross_attend
from sumfit.models.config import EOS, MASK, DATConfig
from sumfit.models.layers import Block, Entry, init_weights
from sumfit.models.network import Network

__all__ = ["Autoregressive", "CausalBlock", "DecoderCache", "LengthInformed"]


@dataclass(slots=True)
class DecoderCache:
    """What a decoder keeps between steps, for ``K`` hypotheses of each of ``B`` texts.

    Attributes:
        keys: For each block ``(B, K, H, L, D / H)``, filled up to ``n_read``.
        values: The same.
        source: For each block ``(B, T, 2 D)`` key and value of the source, once for each text.
        source_mask: ``(B, T)`` ``True`` = real.
        n_read: Words read so far, the start word included.
    """

    keys: list[Tensor]
    values: list[Tensor]
    source: list[Tensor]
    source_mask: Tensor
    n_read: int = 0

    def reorder_(self, parents: Tensor) -> None:
        """Let every hypothesis go on from another one of its text.

        Args:
            parents: ``(B, K)`` int64 hypothesis that each one continues.
        """
        index = parents[:, :, None, None, None]
        for tensors in (self.keys, self.values):
            for old in tensors:
                used = old[:, :, :, : self.n_read]
                moved = used.gather(1, index.expand(-1, -1, *used.shape[2:]))
                old[:, :, :, : self.n_read] = moved

    def keep_(self, rows: Tensor) -> None:
        """Drop texts that are done.

        Args:
            rows: ``(B',)`` int64 texts to keep.
        """
        for tensors in (self.keys, self.values, self.source):
            tensors[:] = [tensor.index_select(0, rows) for tensor in tensors]
        self.source_mask = self.source_mask.index_select(0, rows)


class CausalBlock(Block):
    """A block that reads the source, and of its own row only what came before."""

    def __init__(self, config: DATConfig) -> None:
        """Build the layer.

        Args:
            config: The shape of the network.
        """
        super().__init__(config, reads_source=True)

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return every row's mixture of itself and the rows before it.

        Args:
            x: ``(B, U, D)``, padded at the end alone.
            mask: Not needed: what is padded stands after every real row.

        Returns:
            ``(B, U, D)``.
        """
        return causal_attend(self.self_qkv(x), self.n_heads)

    def step(self, x: Tensor, cache: DecoderCache, layer: int) -> Tensor:
        """Return the states of one more row, whose keys and values are added to the cache.

        Args:
            x: ``(B, K, D)`` states of the new row of each hypothesis.
            cache: Rows before; this row's place in it is filled.
            layer: Number of the block.

        Returns:
            ``(B, K, D)``.
        """
        n_items, n_hypotheses, width = x.shape
        split = (n_items, n_hypotheses, self.n_heads, width // self.n_heads)
        query, key, value = (part.view(split) for part in self.self_qkv(x).chunk(3, dim=-1))
        now = cache.n_read
        cache.keys[layer][:, :, :, now] = key
        cache.values[layer][:, :, :, now] = value
        keys = cache.keys[layer][:, :, :, : now + 1].flatten(0, 1)
        values = cache.values[layer][:, :, :, : now + 1].flatten(0, 1)
        mixed = F.scaled_dot_product_attention(query.flatten(0, 1).unsqueeze(2), keys, values)
        x = self._add(x, self.self_out(mixed.reshape(x.shape)), self.self_norm)
        # The hypotheses of a text are so many rows that read one source.
        read = cross_attend(self.cross_q(x), cache.source[layer], cache.source_mask, self.n_heads)
        x = self._add(x, self.cross_out(read), self.cross_norm)
        return self._add(x, self.ffn_out(F.gelu(self.ffn_in(x))), self.ffn_norm)


class Autoregressive(Network):
    """Predicts a summary word by word.

    Of `DATConfig` it has no use for ``n_link_heads`` and, unless it is told the length,
    ``n_limit_buckets``; ``max_vertices`` is its longest row, start word included.
    """

    system = "at"

    def __init__(self, config: DATConfig) -> None:
        """Build the network with random weights.

        Args:
            config: The shape of the network.
        """
        super().__init__()
        self.config = config
        self.n_positions = config.max_vertices
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.source_entry = Entry(config, config.max_source_tokens)
        self.target_entry = Entry(config, config.max_vertices)
        self.encoder = nn.ModuleList(Block(config) for _ in range(config.n_encoder_layers))
        self.decoder = nn.ModuleList(CausalBlock(config) for _ in range(config.n_decoder_layers))
        self.apply(init_weights)

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of source and target."""
        return (self.source_entry, self.target_entry)

    def decode(
        self, ids: Tensor, memory: Tensor, source_mask: Tensor, n_words: Tensor | None = None
    ) -> Tensor:
        """Return the states from which the next words are predicted.

        Args:
            ids: ``(B, U)`` words before each place: the start word, then words, pad 0 at the end.
            memory: ``(B, T, D)`` encoded source.
            source_mask: ``(B, T)`` ``True`` = real token.
            n_words: ``(B,)`` words the summary should have; only where the model is told.

        Returns:
            ``(B, U, D)`` states.
        """
        x: Tensor = self.target_entry(self.embed(ids, n_words))
        for block in self.decoder:
            x = block(x, source_mask, memory, source_mask)
        return x

    def embed(self, ids: Tensor, n_words: Tensor | None) -> Tensor:
        """Return what the decoder reads at each place, positions left out.

        Args:
            ids: ``(B, U)`` words.
            n_words: ``(B,)`` words the summary should have; not used.

        Returns:
            ``(B, U, D)``.
        """
        words: Tensor = self.embedding(ids)
        return words

    def start(self, memory: Tensor, source_mask: Tensor, n_hypotheses: int) -> DecoderCache:
        """Make an empty cache.

        Args:
            memory: ``(B, T, D)`` encoded source.
            source_mask: ``(B, T)`` ``True`` = real token.
            n_hypotheses: ``K``, hypotheses of each text.

        Returns:
            The cache.
        """
        config = self.config
        source = [_causal(block).cross_kv(memory) for block in self.decoder]
        split = (config.n_heads, config.max_vertices, config.width // config.n_heads)
        shape = (memory.shape[0], n_hypotheses, *split)
        keys = [part.new_zeros(shape) for part in source]
        values = [part.new_zeros(shape) for part in source]
        return DecoderCache(keys, values, source, source_mask)

    def step(self, ids: Tensor, cache: DecoderCache, n_left: Tensor | None = None) -> Tensor:
        """Read one more word of every hypothesis.

        Args:
            ids: ``(B, K)`` the words.
            cache: The words before; the new ones are added.
            n_left: ``(B, K)`` words left after each, where the model is told.

        Returns:
            ``(B, K, D)`` states from which the next words are predicted.
        """
        x: Tensor = self.target_entry(self.embed_left(ids, n_left), first=cache.n_read)
        for layer, block in enumerate(self.decoder):
            x = _causal(block).step(x, cache, layer)
        cache.n_read += 1
        return x

    def embed_left(self, ids: Tensor, n_left: Tensor | None) -> Tensor:
        """Return what the decoder reads of single words.

        Args:
            ids: ``(B, K)`` words.
            n_left: ``(B, K)`` words left after each; not used.

        Returns:
            ``(B, K, D)``.
        """
        words: Tensor = self.embedding(ids)
        return words

    def word_logp(self, hidden: Tensor) -> Tensor:
        """Return log-probabilities of the next word, or of the end.

        Args:
            hidden: ``(..., D)`` states.

        Returns:
            ``(..., V)`` float32; ``-inf`` for pad, start and mask.
        """
        with torch.autocast(hidden.device.type, enabled=False):
            logits = F.linear(hidden.float(), self.embedding.weight.float())
        logits[..., :EOS] = -math.inf
        logp = logits.log_softmax(dim=-1)
        logp[..., MASK] = -math.inf
        return logp


class LengthInformed(Autoregressive):
    """The same, told before each word how many words are left.

    ``left`` holds an embedding for each number of words left, ``n_limit_buckets`` of them; more are
    treated as the largest. ``word_cost`` ``(2, V)`` says how many words a piece opens, after others
    and at the start; it is stored with the weights.
    """

    system = "at-leninfo"
    word_cost: Tensor

    def __init__(self, config: DATConfig) -> None:
        """Build the network with random weights.

        Args:
            config: The shape of the network.

        Raises:
            ConfigError: If the shape has no embeddings for the length.
        """
        if config.n_limit_buckets < 2:
            raise ConfigError(
                "a model that is told the length needs n_limit_buckets of at least 2, was "
                f"{config.n_limit_buckets}"
            )
        super().__init__(config)
        self.left = nn.Embedding(config.n_limit_buckets, config.width)
        init_weights(self.left)
        self.register_buffer("word_cost", torch.zeros(2, config.vocab_size, dtype=torch.uint8))

    def set_word_costs(
        self, cost: Sequence[int] | npt.NDArray[np.int32], first_cost: npt.NDArray[np.int32]
    ) -> None:
        """Say how many words each piece opens.

        Args:
            cost: ``(V,)`` after other pieces.
            first_cost: ``(V,)`` at the start of a text.
        """
        table = np.stack([np.asarray(cost), np.asarray(first_cost)])
        self.word_cost.copy_(torch.from_numpy(table))

    def count_words(self, ids: Tensor) -> Tensor:
        """Return how many words there are up to and including each piece.

        Args:
            ids: ``(B, U)`` pieces of a text from its start, pad 0.

        Returns:
            ``(B, U)`` int64.
        """
        costs = torch.cat([self.word_cost[1][ids[:, :1]], self.word_cost[0][ids[:, 1:]]], dim=1)
        return costs.long().cumsum(dim=1)

    def embed(self, ids: Tensor, n_words: Tensor | None) -> Tensor:
        """Return what the decoder reads at each place, positions left out.

        Args:
            ids: ``(B, U)`` the start word, then pieces.
            n_words: ``(B,)`` words the summary should have.

        Returns:
            ``(B, U, D)``.
        """
        assert n_words is not None, "this model is told the length"
        n_left = n_words[:, None] - F.pad(self.count_words(ids[:, 1:]), (1, 0))
        return self.embed_left(ids, n_left)

    def embed_left(self, ids: Tensor, n_left: Tensor | None) -> Tensor:
        """Return what the decoder reads of single words.

        Args:
            ids: ``(B, K)`` words.
            n_left: ``(B, K)`` words left after each.

        Returns:
            ``(B, K, D)``.
        """
        assert n_left is not None, "this model is told the length"
        words: Tensor = self.embedding(ids)
        left: Tensor = self.left(n_left.clamp(0, self.left.num_embeddings - 1))
        return words + left


def _causal(block: nn.Module) -> CausalBlock:
    assert isinstance(block, CausalBlock)
    return block
