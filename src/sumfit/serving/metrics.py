"""Counters of the server, in Prometheus' text format.

Owns names and labels; each application has its own registry. No label holds anything that a
client wrote.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from sumfit._version import __version__

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LATENCY_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_SIZE_BUCKETS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """What the server counts."""

    def __init__(self) -> None:
        """Make a registry with every metric at zero."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self.requests = Counter(
            "sumfit_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.latency = Histogram(
            "sumfit_request_seconds",
            "Time from the first byte of a request to its answer.",
            ["route"],
            buckets=_LATENCY_BUCKETS_S,
            registry=self.registry,
        )
        self.texts = Counter(
            "sumfit_texts",
            "Texts summarised, by what became of them.",
            ["outcome"],
            registry=self.registry,
        )
        self.batch_sizes = Histogram(
            "sumfit_batch_texts",
            "Texts in one call of the model.",
            buckets=_SIZE_BUCKETS,
            registry=self.registry,
        )
        self.batch_seconds = Histogram(
            "sumfit_batch_seconds",
            "Time of one call of the model.",
            buckets=_LATENCY_BUCKETS_S,
            registry=self.registry,
        )
        self.cut_off = Counter(
            "sumfit_cut_off_connections",
            "Connections closed because the client was too slow.",
            ["reason"],
            registry=self.registry,
        )
        info = Gauge("sumfit_build_info", "Version of sumfit.", ["version"], registry=self.registry)
        info.labels(version=__version__).set(1)

    def watch(self, name: str, description: str, value: Callable[[], float]) -> None:
        """Report a value as it is whenever metrics are read.

        Args:
            name: Name of the metric.
            description: What it is.
            value: Returns it.
        """
        Gauge(name, description, registry=self.registry).set_function(value)

    def note_batch(self, size: int, seconds: float) -> None:
        """Count one call of the model.

        Args:
            size: Texts in it.
            seconds: Its duration.
        """
        self.batch_sizes.observe(size)
        self.batch_seconds.observe(seconds)

    def render(self) -> bytes:
        """Write every metric.

        Returns:
            The text exposition format.
        """
        return generate_latest(self.registry)
