"""Untrained networks of the baselines with a tokenizer, saved as a checkpoint has them."""

from __future__ import annotations

from pathlib import Path

import torch

from sumfit.models import DATConfig, save_model
from sumfit.models.network import build_network
from sumfit.text import Tokenizer

TEXTS = [
    "The council of Arden approved a new bridge over the river on Monday.",
    "Rain fell.",
    "The museum trust of Ivyton sold a disused power station to save money, a spokesman said.",
    "Trains stopped in Harwick after a storm.",
]


def write_model(folder: Path, system: str, **fields: object) -> Path:
    """Write ``config.json``, ``model.safetensors`` and ``tokenizer.json``."""
    tokenizer = Tokenizer.train(TEXTS * 3, vocab_size=330)
    config = DATConfig(
        vocab_size=tokenizer.vocab_size,
        width=16,
        n_heads=2,
        n_link_heads=2,
        ffn_width=24,
        n_encoder_layers=1,
        n_decoder_layers=1,
        max_source_tokens=48,
        min_vertices=4,
        max_vertices=48,
        n_limit_buckets=8,
        dropout=0.0,
    )
    torch.manual_seed(0)
    network = build_network(system, config)
    with torch.no_grad():
        for weights in network.parameters():
            weights.add_(torch.randn_like(weights) * 0.2)
    known = {"name": "tiny", "tokenizer_sha256": tokenizer.fingerprint, "profiles": ["natural"]}
    save_model(network, folder, fields={**known, **fields})
    tokenizer.save(folder / "tokenizer.json")
    return folder
