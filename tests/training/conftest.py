from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

TINY = """
name = "t"
seed = 3

[data]
vocab_size = 400
max_source = 96
batch_tokens = 1600

[[data.sets]]
name = "made-up"
n_synthetic = 160

[model]
width = 16
n_heads = 2
n_link_heads = 2
ffn_width = 16
n_encoder_layers = 1
n_decoder_layers = 1
max_source_tokens = 96
min_vertices = 24
max_vertices = 40
dropout = 0.1

[optimizer]
lr = 3e-3
warmup_steps = 4
ema_decay = 0.9

[run]
max_steps = 12
precision = "fp32"
log_every = 2
validate_every = 0
save_every = 4

[validation]
n_loss = 16
"""


@pytest.fixture(scope="session")
def tiny_recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe file whose corpus is packed already."""
    from sumfit.training.prepare import pack
    from sumfit.training.recipe import load_recipe

    folder = tmp_path_factory.mktemp("recipe")
    path = folder / "tiny.toml"
    path.write_text(TINY)
    pack(load_recipe(path), output=folder / "corpus", n_workers=1)
    path.write_text(TINY.replace("[data]", f'[data]\ncorpus = "{folder / "corpus"}"', 1))
    return path


def read_metrics(output: Path, kind: str = "train") -> list[dict[str, float]]:
    lines = (output / "metrics.jsonl").read_text().splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


def start_training(
    recipe: Path, *words: str, rank: int = 0, size: int = 1, port: int = 0
) -> subprocess.Popen[str]:
    """Start one process of a run, as torchrun would."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    if size > 1:
        environment |= {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank)}
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-m", "sumfit", "train", str(recipe), *words, "--device", "cpu"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
