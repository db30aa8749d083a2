"""A tiny reranker for the tiny model: random, sharp weights, no training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from sumfit.models.reranker import Reranker
from sumfit.models.reranker_config import RerankerShape
from sumfit.rerank.features import FEATURES
from sumfit.text import Tokenizer
from sumfit.training.reranking.files import save_checkpoint

__all__ = ["write_checkpoint"]

FIELDS: dict[str, Any] = {
    "encoder": "sumfit",
    "width": 16,
    "n_heads": 2,
    "ffn_width": 24,
    "n_layers": 1,
    "n_positions": 64,
    "max_source": 48,
    "max_candidate": 24,
    "n_candidates": 5,
    "order_weight": 50.0,
    "n_features": len(FEATURES),
    "head_width": 8,
    "dropout": 0.0,
}


def write_checkpoint(model_dir: Path, folder: Path, **changes: Any) -> tuple[Path, Reranker]:
    """Write a checkpoint, and give its network as well."""
    tokenizer = Tokenizer.from_file(model_dir / "tokenizer.json")
    shape = RerankerShape.from_dict({**FIELDS, "vocab_size": tokenizer.vocab_size, **changes})
    torch.manual_seed(5)
    network = Reranker(shape).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "norm" not in name:
                parameter.mul_(6)
    fields = {
        "name": "tiny-reranker",
        "tokenizer_sha256": tokenizer.fingerprint,
        "models": ["tiny-copy"],
        "profiles": ["natural"],
        "mbr_temperature": 2.0,
        "features": list(FEATURES),
        "n_listed": 8,
        "after_best": 16,
        "weight": 0.1,
        "f1_weight": 3.0,
    }
    save_checkpoint(folder, model=network, fields=fields, tokenizer=model_dir / "tokenizer.json")
    return folder, network
