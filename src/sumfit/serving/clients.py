"""Who asks: the client that a share of the server is counted for.

Owns how an address becomes a client. Does not own what a client may have (`held`, `batching`,
`protocol`).
"""

from __future__ import annotations

import ipaddress

__all__ = ["client_of"]

_IPV6_PREFIX = 64  # what one customer of a provider has; a single address is changed at will
_MAX_NAME = 64


def client_of(address: str | None) -> str:
    """Name the client behind an address.

    Args:
        address: Address of the other end, or what a trusted proxy says it is; ``None`` where
            there is none, as on a Unix socket.

    Returns:
        The address; of an IPv6 address its network of 64 bits, and the IPv4 address in it if it
        holds one.
    """
    if not address:
        return ""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # whatever the proxy wrote
        return address[:_MAX_NAME]
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))
