"""Size, speed and error of the exported graphs against torch, one text at a time on one thread.

    python benchmarks/training/bench_export.py [MODEL_DIRECTORY]

Timed: one session call, processor time of the calling thread, median of many. Not timed: loading,
tokenizing, decoding. Without a directory the default architecture runs with random weights, which
is as fast but says nothing about the error.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from sumfit.models import DAT, DATConfig, export_onnx, load_model


def median_ms(run: Callable[[], object], n_runs: int) -> float:
    """Median processor time of one call."""
    for _ in range(5):
        run()
    times = []
    for _ in range(n_runs):
        begin = time.thread_time()
        run()
        times.append(1e3 * (time.thread_time() - begin))
    return statistics.median(times)


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Load a graph for one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def main() -> None:
    """Print one JSON line per precision."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("directory", nargs="?")
    parser.add_argument("--source", type=int, default=42, help="source tokens and vertices")
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = load_model(options.directory) if options.directory else DAT(DATConfig()).eval()
    source = torch.randint(4, model.config.vocab_size, (1, options.source))
    mask = torch.ones(1, options.source, dtype=torch.bool)
    inputs = {"source_ids": source.numpy(), "vertex_mask": mask.numpy()}
    with torch.no_grad():
        word_logp, _ = model(source, mask)
        torch_ms = median_ms(lambda: model(source, mask), max(3, options.runs // 5))
    print(json.dumps({"graph": "torch", "ms": round(torch_ms, 2)}))
    with tempfile.TemporaryDirectory() as folder:
        for precision in ("fp32", "int8"):
            path = Path(folder) / f"{precision}.onnx"
            export_onnx(model, path, precision=precision)
            session = open_session(path)
            top_ids, cand_logp, _, _ = session.run(None, inputs)
            expected = word_logp[0][:, torch.from_numpy(top_ids.reshape(-1))].numpy()
            row = {
                "graph": precision,
                "ms": round(median_ms(lambda s=session: s.run(None, inputs), options.runs), 2),
                "MB": round(path.stat().st_size / 1e6, 2),
                "mean error, nats": float(np.abs(cand_logp[0] - expected).mean()),
            }
            print(json.dumps(row))


if __name__ == "__main__":
    main()
