"""Sentences and words per second of a system on this machine, one at a time and many.

What is timed is the whole way from string to string. Models are loaded and every system has
summarised some texts before the clock starts; graphs come back to the host before a call returns,
so a GPU's work is always inside the time.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sumfit.errors import ConfigError
from sumfit.hypothesis import Summary
from sumfit.pipeline import Summarizer

if TYPE_CHECKING:
    from sumfit.baselines.base import Baseline

__all__ = ["Mode", "Speed", "machine", "measure_speed"]

Mode = Literal["one", "many"]


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed of one system.

    Attributes:
        n: Texts summarised while the clock ran.
        n_failed: Of them, without a summary.
        seconds: By the clock, all texts.
        n_words: Words of all summaries.
        latencies_s: Time of each call, one text each; empty for many texts at once.
        forward_s: Mean time of the network for a text.
        decode_s: Mean time of the search and the reranker for a text.
    """

    n: int
    n_failed: int
    seconds: float
    n_words: int
    latencies_s: tuple[float, ...]
    forward_s: float
    decode_s: float

    @property
    def sentences_per_s(self) -> float:
        """Summaries a second."""
        return self.n / self.seconds

    @property
    def words_per_s(self) -> float:
        """Words of summaries a second."""
        return self.n_words / self.seconds


def measure_speed(
    fit: Summarizer | Baseline,
    texts: Sequence[str],
    *,
    mode: Mode,
    n_warmup: int = 10,
    **keywords: Any,
) -> Speed:
    """Time a system.

    Args:
        fit: The loaded model.
        texts: Texts to time, at least one.
        mode: ``"one"``: a call for each text, one after another; ``"many"``: one call.
        n_warmup: Texts summarised before the clock starts.
        **keywords: As for calling it.

    Returns:
        The speed.

    Raises:
        ConfigError: If there are no texts.
    """
    if not texts:
        raise ConfigError("there is nothing to time; give at least one text")
    fit([texts[i % len(texts)] for i in range(n_warmup)], on_error="return", **keywords)
    latencies: list[float] = []
    results: list[Summary] = []
    started = time.perf_counter()
    if mode == "many":
        results = fit(list(texts), on_error="return", **keywords)
    else:
        for text in texts:
            before = time.perf_counter()
            results.append(fit(text, on_error="return", **keywords))
            latencies.append(time.perf_counter() - before)
    seconds = time.perf_counter() - started
    return Speed(
        n=len(results),
        n_failed=sum(summary.error is not None for summary in results),
        seconds=seconds,
        n_words=sum(len(summary.text.split()) for summary in results),
        latencies_s=tuple(latencies),
        forward_s=_mean_stage(results, "forward"),
        decode_s=_mean_stage(results, "decode") + _mean_stage(results, "rerank"),
    )


def _mean_stage(results: Sequence[Summary], stage: str) -> float:
    return statistics.mean(summary.timings.get(stage, 0.0) for summary in results)


def machine() -> str:
    """Say what the clock ran on.

    Returns:
        Processors, architecture, Python, and the GPU if torch is loaded and sees one.
    """
    torch = sys.modules.get("torch")
    gpu = torch.cuda.get_device_name() + ", " if torch and torch.cuda.is_available() else ""
    return (
        gpu
        + f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}"
    )
