"""Settings of the HTTP server; every default is here and nowhere else.

Owns `ServerOptions` and its checks. Does not own what a request may ask for (`schemas`).
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from sumfit.errors import ConfigError, Keyword
from sumfit.processors import checked_workers

__all__ = ["MIN_KEY_CHARS", "ServerOptions", "read_api_keys"]

MIN_KEY_CHARS = 16  # shorter keys can be guessed
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s?#@A-Z]+")
_HELD_BODIES = 6
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


_COUNTS = (
    "max_batch",
    "queue_size",
    "max_body_bytes",
    "max_connections",
    "max_texts",
    "max_limits",
    "max_results",
    "max_n_best",
)
_SECONDS = (
    "time_limit_s",
    "search_time_limit_s",
    "read_time_limit_s",
    "write_time_limit_s",
    "shutdown_time_limit_s",
)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How the server listens, queues, limits and guards.

    Attributes:
        host: Address to listen on; loopback unless the operator says otherwise.
        port: TCP port, 0 for any free one.
        workers: Threads that summarise; 0 for one per processor core.
        max_batch: Most texts that one worker takes at once.
        queue_size: Most texts waiting for a worker; more are answered 429.
        client_share: Part of the queue, of the connections and of the memory for bodies that one
            client address may have, above 0 and at most 1.
        time_limit_s: Longest a request may take once its body has arrived, in seconds.
        search_time_limit_s: Longest that the search for one summary may take, in seconds; beyond
            it the best found so far is returned, with a gap instead of a proof.
        max_body_bytes: Largest request body.
        max_held_bytes: Most bytes of all bodies and replies together; 0 for six times the largest
            body.
        max_connections: Most connections at a time.
        max_texts: Most texts in one request.
        max_limits: Most limits for one text in one request.
        max_n_best: Most candidates a request may ask for.
        max_results: Most summaries and other candidates in one reply.
        read_time_limit_s: Longest a client may take to send its headers, and again its body.
        write_time_limit_s: Longest that a client may leave unread what was sent, 64 KiB at most.
        shutdown_time_limit_s: Longest to wait for accepted requests when the server stops.
        api_keys: Accepted keys; empty means that none is asked for.
        cors_origins: Web origins that may call the API from a browser; empty means none.
        allowed_hosts: Values of the ``Host`` header that are served, ``("*",)`` for any; empty
            means the loopback names when ``host`` is loopback and any otherwise.
        trusted_proxies: Addresses or networks of proxies whose ``X-Forwarded-For`` says who asks.
    """

    host: str = "127.0.0.1"
    port: int = 8077
    workers: int = 0
    max_batch: int = 16
    queue_size: int = 512
    client_share: float = 0.75
    time_limit_s: float = 30.0
    search_time_limit_s: float = 2.0
    max_body_bytes: int = 8 * 1024 * 1024
    max_held_bytes: int = 0
    max_connections: int = 900
    max_texts: int = 10_000
    max_limits: int = 512
    max_n_best: int = 50
    max_results: int = 20_000
    read_time_limit_s: float = 15.0
    write_time_limit_s: float = 15.0
    shutdown_time_limit_s: float = 30.0
    api_keys: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ConfigError.of("port", self.port, "must be between 0 and 65535")
        self._check_numbers()
        checked_workers(self.workers, name="workers")
        for origin in self.cors_origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ConfigError(
                    "a CORS origin must be * or scheme://host[:port] in lower case without a path, "
                    f"as browsers send it, was {origin!r}"
                )
        for name in self.allowed_hosts:
            if name != "*" and not _is_host(name):
                raise ConfigError(
                    "an allowed host must be a name or address without scheme, port and path, "
                    f"was {name!r}"
                )
        if self.client_part(self.held_bytes) < self.max_body_bytes:
            raise ConfigError(
                Keyword("max_held_bytes", "", self.max_held_bytes),
                " must be so large that one client's share of it holds a body of "
                f"{self.max_body_bytes} bytes, was {self.max_held_bytes} with a share of "
                f"{self.client_share:g}; raise it, or leave it 0",
            )
        for proxy in self.trusted_proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError:
                raise ConfigError(
                    f"a trusted proxy must be an IP address or network, was {proxy!r}"
                ) from None
        for key in self.api_keys:
            if len(key) < MIN_KEY_CHARS or not key.isascii() or key != key.strip():
                raise ConfigError(
                    f"an API key must be at least {MIN_KEY_CHARS} ASCII characters without spaces "
                    f"around it, one has {len(key)}; make one with: "
                    "python -c 'import secrets; print(secrets.token_urlsafe(32))'"
                )

    def _check_numbers(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ConfigError.of(name, getattr(self, name), "must be at least 1")
        if not 0 < self.client_share <= 1:
            rule = "must be above 0 and at most 1"
            raise ConfigError.of("client_share", self.client_share, rule)
        for name in _SECONDS:
            if not 0 < getattr(self, name) < 86_400:
                rule = "must be above 0 and below 86400 seconds"
                raise ConfigError.of(name, getattr(self, name), rule)

    @property
    def n_workers(self) -> int:
        """Threads that summarise, with 0 resolved."""
        return checked_workers(self.workers, name="workers")

    @property
    def held_bytes(self) -> int:
        """Most bytes of all bodies and replies together, with 0 resolved."""
        return self.max_held_bytes or _HELD_BODIES * self.max_body_bytes

    def client_part(self, whole: int) -> int:
        """Compute what one client address may have of something.

        Args:
            whole: What there is.

        Returns:
            The client's share of it, at least 1.
        """
        return max(1, math.ceil(self.client_share * whole))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in _LOOPBACK

    @property
    def served_hosts(self) -> frozenset[str] | None:
        """Names accepted in the ``Host`` header, or ``None`` for any.

        A server on the loopback address answers to loopback names alone, so that a web site
        which points its own name at 127.0.0.1 cannot read from it.
        """
        if self.allowed_hosts:
            names = frozenset(name.strip("[]").lower() for name in self.allowed_hosts)
            return None if "*" in names else names
        return _LOOPBACK if self.is_loopback else None


def _is_host(name: str) -> bool:
    if ":" not in name:
        return re.fullmatch(r"[^\s/]+", name) is not None
    try:
        ipaddress.IPv6Address(name.strip("[]"))
    except ValueError:
        return False
    return True


def read_api_keys(path: str | os.PathLike[str] | None) -> tuple[str, ...]:
    """Collect API keys from a file and from the environment variable ``SUMFIT_API_KEYS``.

    Args:
        path: File with one key a line (empty lines and lines that start with ``#`` are skipped),
            or ``None``.

    Returns:
        The keys in order, without repeats.

    Raises:
        ConfigError: If the file cannot be read or holds no key.
    """
    keys: list[str] = []
    if path is not None:
        try:
            lines = Path(path).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read API keys from {path}: {error}") from error
        keys += [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        if not keys:
            raise ConfigError(f"{path} holds no API key; write one a line, or leave the option out")
    keys += [key.strip() for key in os.environ.get("SUMFIT_API_KEYS", "").split(",") if key.strip()]
    return tuple(dict.fromkeys(keys))
