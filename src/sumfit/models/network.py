"""What every network has in common, so that training, start weights and files need not know it.

Owns `Network`, the table of networks by the name of their system, and the choice of a device. Does
not own any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from sumfit.errors import ConfigError, given
from sumfit.models.config import PAD, DATConfig

if TYPE_CHECKING:
    from sumfit.models.layers import Entry

__all__ = ["Network", "build_network", "usable_device"]

# One line for each system: where its network is.
_NETWORKS = {
    "dat": ("sumfit.models.dat", "DAT"),
    "at": ("sumfit.models.autoregressive", "Autoregressive"),
    "at-leninfo": ("sumfit.models.autoregressive", "LengthInformed"),
    "ctc": ("sumfit.models.ctc", "CTC"),
    "bert-crf": ("sumfit.models.bert_crf", "BertCRF"),
}


class Network(nn.Module):
    """A network of any system, all of one shape: `DATConfig` has their options.

    Attributes:
        system: Name of the system that the network belongs to, as a recipe and ``config.json``
            name it.
        config: The shape.
        embedding: Word embeddings, tied to the word logits.
        source_entry: From the words of the source to the first encoder block.
        encoder: Encoder blocks.
        decoder: Decoder blocks, the upper half of the network; empty where there are none.
        is_one_stack: Whether the blocks of encoder and decoder are one stack, so that the decoder
            goes on where the encoder ends when weights of another stack are filled in.
    """

    system: str
    config: DATConfig
    embedding: nn.Embedding
    source_entry: Entry
    encoder: nn.ModuleList
    decoder: nn.ModuleList
    is_one_stack: ClassVar[bool] = False

    def encode(self, source_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Encode the source.

        Args:
            source_ids: ``(B, T)`` int64, pad 0, at least one token a row.

        Returns:
            ``(B, T, D)`` encoded tokens and ``(B, T)`` mask, ``True`` = real.
        """
        source_mask = source_ids != PAD
        x = self.source_entry(self.embedding(source_ids))
        for block in self.encoder:
            x = block(x, source_mask)
        return x, source_mask

    def entries(self) -> tuple[Entry, ...]:
        """Return every entry, that of the source first; MiniLM's positions fill them all."""
        return (self.source_entry,)

    def numbered_blocks(self) -> Iterator[tuple[int, nn.Module]]:
        """Number the blocks from below, for filling in weights.

        Yields:
            Number and block; decoder blocks begin at 0 again, unless there is one stack.
        """
        yield from enumerate(self.encoder)
        yield from enumerate(self.decoder, len(self.encoder) if self.is_one_stack else 0)

    def parts(self) -> tuple[nn.Module, ...]:
        """Return the parts that are compiled one by one."""
        return (*self.entries(), *self.encoder, *self.decoder)

    def compile_blocks(self) -> None:
        """Compile the parts in place, for any batch size and length; names stay the same."""
        for part in self.parts():
            part.compile(dynamic=True)


def build_network(system: str, config: DATConfig) -> Network:
    """Build the network of a system with random weights.

    Args:
        system: Name of the system.
        config: The shape.

    Returns:
        The network.

    Raises:
        ConfigError: If there is no such system, or it cannot have this shape.
    """
    if system not in _NETWORKS:
        raise ConfigError(f"unknown system {system!r}; known: {sorted(_NETWORKS)}")
    module, name = _NETWORKS[system]
    network: Network = getattr(import_module(module), name)(config)
    return network


def usable_device(device: str | None) -> torch.device:
    """Find a device to run on, and try it.

    Args:
        device: Torch device; a GPU if there is one, else the CPU, if not given.

    Returns:
        The device.

    Raises:
        ConfigError: If it cannot be used here.
    """
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(place)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(given("device", place), f" cannot be used here ({reason})") from error
    return found
