"""The Directed Acyclic Transformer: an encoder, a graph decoder, words and links of a graph.

Owns the network. Does not own its loss (`sumfit.losses`), its start weights
(`sumfit.models.minilm`) or its files (`sumfit.models.checkpoint`, `sumfit.models.export`).

The blocks are BERT's (layer norm after each residual sum, GELU), so MiniLM's weights fit as they
are. The decoder reads vertex ids: ``<bos>`` at vertex 0, ``<eos>`` at the last vertex, ``<mask>``
between, or a target word where training reveals one (glancing).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sumfit.errors import ConfigError
from sumfit.models.autoregressive import CausalBlock
from sumfit.models.config import BOS, EOS, MASK, N_SPECIAL, PAD, DATConfig
from sumfit.models.layers import Block, Entry, init_weights, masked_mean
from sumfit.models.network import Network

__all__ = ["DAT", "Verdict", "vertex_ids", "vertex_mask"]


def vertex_mask(n_vertices: Tensor, size: int) -> Tensor:
    """Mark the real vertices of each graph in a batch.

    Args:
        n_vertices: ``(B,)`` vertices of each graph.
        size: ``S`` of the batch.

    Returns:
        ``(B, S)`` bool, ``True`` = real.
    """
    return torch.arange(size, device=n_vertices.device) < n_vertices[:, None]


def vertex_ids(mask: Tensor) -> Tensor:
    """Return what the decoder reads when no word is revealed.

    Args:
        mask: ``(B, S)`` ``True`` = real vertex.

    Returns:
        ``(B, S)`` int64: bos, masks, eos at the last real vertex, pads.
    """
    is_last = mask & ~F.pad(mask[:, 1:], (0, 1))
    ids = torch.where(is_last, EOS, torch.where(mask, MASK, PAD))
    return torch.cat([torch.full_like(ids[:, :1], BOS), ids[:, 1:]], dim=1)


class DAT(Network):
    """Predicts, from source tokens, the words and links of a graph.

    ``embedding`` holds the ``(V, D)`` word embeddings, shared by encoder, decoder and word
    logits; ids below ``n_special`` are never emitted. With ``n_scorer_layers`` it also has an
    autoregressive decoder over the same encoded source (`read`), which scores whole candidates.
    """

    system = "dat"

    def __init__(self, config: DATConfig) -> None:
        """Build the network with random weights.

        Args:
            config: The shape of the network.
        """
        super().__init__()
        self.config = config
        self.n_special = N_SPECIAL
        width = config.width
        self.embedding = nn.Embedding(config.vocab_size, width)
        self.source_entry = Entry(config, config.max_source_tokens)
        self.vertex_entry = Entry(config, config.max_vertices)
        self.encoder = nn.ModuleList(Block(config) for _ in range(config.n_encoder_layers))
        self.decoder = nn.ModuleList(
            Block(config, reads_source=True) for _ in range(config.n_decoder_layers)
        )
        self.links = Links(config)
        self.scorer = nn.ModuleList(CausalBlock(config) for _ in range(config.n_scorer_layers))
        if config.n_scorer_layers:
            self.scorer_entry = Entry(config, config.max_vertices)
        self.verdict = Verdict(config) if config.verdict_width else None
        self.apply(init_weights)

    def forward(self, source_ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the whole graph, for small vocabularies, checks and evaluation.

        Args:
            source_ids: ``(B, T)`` int64, pad 0.
            mask: ``(B, S)`` ``True`` = real vertex.

        Returns:
            ``(B, S, V)`` word and ``(B, S, S)`` link log-probabilities, float32.
        """
        memory, source_mask = self.encode(source_ids)
        hidden = self.decode(vertex_ids(mask), mask, memory, source_mask)
        return self.word_logp(hidden), self.link_logp(hidden, mask)

    def decode(self, ids: Tensor, mask: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the state of every vertex.

        Args:
            ids: ``(B, S)`` what each vertex reads; see `vertex_ids`.
            mask: ``(B, S)`` ``True`` = real vertex.
            memory: ``(B, T, D)`` encoded source.
            source_mask: ``(B, T)`` ``True`` = real token.

        Returns:
            ``(B, S, D)`` vertex states.
        """
        x: Tensor = self.vertex_entry(self.embedding(ids))
        for block in self.decoder:
            x = block(x, mask, memory, source_mask)
        return x

    def read(self, ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the scorer's states, from which each next word of a candidate is predicted.

        Args:
            ids: ``(B, U)`` words before each place: the start word, then words, pad 0 at the end.
            memory: ``(B, T, D)`` encoded source.
            source_mask: ``(B, T)`` ``True`` = real token.

        Returns:
            ``(B, U, D)`` states.
        """
        x: Tensor = self.scorer_entry(self.embedding(ids))
        for block in self.scorer:
            x = block(x, source_mask, memory, source_mask)
        return x

    def judge(self, states: Tensor, n_words: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Say whether candidates that were read may be printed.

        Args:
            states: ``(B, U, D)`` what `read` made of them.
            n_words: ``(B,)`` words of each; its states are those of its start and its words.
            memory: ``(B, T, D)`` encoded source.
            source_mask: ``(B, T)`` ``True`` = real token.

        Returns:
            ``(B,)`` float32 logits.

        Raises:
            ConfigError: If the network has no verdict.
        """
        if self.verdict is None:
            raise ConfigError("the network has no verdict (verdict_width is 0)")
        is_own = torch.arange(states.shape[1], device=states.device) <= n_words[:, None]
        end = states[torch.arange(len(states), device=states.device), n_words]
        parts = [end.float(), masked_mean(states, is_own), masked_mean(memory, source_mask)]
        logits: Tensor = self.verdict(torch.cat(parts, dim=-1)).float()
        return logits

    def vertex_mask(self, n_vertices: Tensor) -> Tensor:
        """Mark the real vertices of a batch as wide as its largest graph, in steps of 8.

        Reads ``n_vertices`` on the host: where that would hold up a GPU, make the mask while
        batching.

        Args:
            n_vertices: ``(B,)`` vertices of each graph.

        Returns:
            ``(B, S)`` bool, ``True`` = real vertex.
        """
        size = min(-(-int(n_vertices.max()) // 8) * 8, self.config.max_vertices)
        return vertex_mask(n_vertices, size)

    def vertex_ids(self, mask: Tensor) -> Tensor:
        """Return what the decoder reads when no word is revealed; see `vertex_ids`.

        Args:
            mask: ``(B, S)`` ``True`` = real vertex.

        Returns:
            ``(B, S)`` int64.
        """
        return vertex_ids(mask)

    def word_logp(self, hidden: Tensor) -> Tensor:
        """Return log-probabilities of all words; special ids are impossible.

        Args:
            hidden: ``(..., D)`` vertex states.

        Returns:
            ``(..., V)`` float32.
        """
        logits = F.linear(hidden, self.embedding.weight.to(hidden.dtype)).float()
        special = torch.arange(logits.shape[-1], device=logits.device) < N_SPECIAL
        return logits.masked_fill(special, -math.inf).log_softmax(dim=-1)

    def link_logp(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return log-probabilities of all links.

        Args:
            hidden: ``(B, S, D)`` vertex states.
            mask: ``(B, S)`` ``True`` = real vertex.

        Returns:
            ``(B, S, S)`` float32, ``[from, to]``; ``-inf`` where ``to <= from`` or padded.
        """
        logp: Tensor = self.links(hidden, mask)
        return logp

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries of source, vertices and, where there is one, the scorer."""
        own = (self.source_entry, self.vertex_entry)
        return (*own, self.scorer_entry) if self.config.n_scorer_layers else own

    def parts(self) -> tuple[nn.Module, ...]:
        """Return the parts that are compiled one by one."""
        return (*super().parts(), self.links, *self.scorer)


class Verdict(nn.Module):
    """Whether a candidate may be printed, from what the scorer made of it and of its source."""

    def __init__(self, config: DATConfig) -> None:
        """Build the layers.

        Args:
            config: The shape of the network.
        """
        super().__init__()
        self.inner = nn.Linear(3 * config.width, config.verdict_width)
        self.out = nn.Linear(config.verdict_width, 1)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, features: Tensor) -> Tensor:
        """Return a logit for each candidate.

        Args:
            features: ``(B, 3D)`` state at its end, mean of its states, mean of the encoded source.

        Returns:
            ``(B,)``.
        """
        logits: Tensor = self.out(self.dropout(F.gelu(self.inner(features))))
        return logits[:, 0]


class Links(nn.Module):
    """Link distribution: heads of dot products over later vertices, mixed by a gate."""

    def __init__(self, config: DATConfig) -> None:
        """Build the layer.

        Args:
            config: The shape of the network.
        """
        super().__init__()
        width = config.width
        self.n_heads = config.n_link_heads
        self.position = nn.Embedding(config.max_vertices, width)
        self.query = nn.Linear(2 * width, width)
        self.key = nn.Linear(2 * width, width)
        self.gate = nn.Linear(2 * width, config.n_link_heads)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        r"""Return ``l[i, j] = sum_h gate[i, h] softmax_{j > i}(q[i, h] k[j, h])`` in logs.

        Time O(H S^2 D / H), memory O(H S^2).

        Args:
            hidden: ``(B, S, D)`` vertex states.
            mask: ``(B, S)`` ``True`` = real vertex.

        Returns:
            ``(B, S, S)`` float32; ``-inf`` where ``to <= from`` or a vertex is padded.
        """
        n_items, size, width = hidden.shape
        position = self.position.weight[:size].to(hidden.dtype).expand(n_items, size, width)
        features = torch.cat([hidden, position], dim=-1)
        split = (n_items, size, self.n_heads, width // self.n_heads)
        query = self.query(features).view(split).transpose(1, 2)
        key = self.key(features).view(split).transpose(1, 2)
        gate_logp = self.gate(features).float().log_softmax(dim=-1).transpose(1, 2)
        scores = (query @ key.transpose(2, 3)).float() / math.sqrt(width // self.n_heads)

        later = torch.ones(size, size, dtype=torch.bool, device=hidden.device).triu(1)
        allowed = (later & mask[:, None, :] & mask[:, :, None])[:, None]
        # A row without a later vertex would be NaN in the softmax, and NaN times 0 in its
        # gradient: it is computed unmasked and made impossible at the end.
        has_later = allowed.any(dim=-1, keepdim=True)
        head_logp = scores.masked_fill(~allowed & has_later, -math.inf).log_softmax(dim=-1)
        mixed = head_logp.masked_fill(~allowed, 0.0) + gate_logp[..., None]
        logp: Tensor = mixed.logsumexp(dim=1)
        return logp.masked_fill(~allowed[:, 0], -math.inf)
