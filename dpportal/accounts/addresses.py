"""Where a request comes from."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str | None:
    """The visitor's address: the connection's own, or behind the proxy the one that the proxy saw.

    A proxy appends to X-Forwarded-For, so only the last entry is its word; what stands before it a visitor can write.
    """
    told = request.META.get("REMOTE_ADDR", "")
    if settings.BEHIND_PROXY:
        told = request.headers.get("X-Forwarded-For", "").rpartition(",")[2] or told
    try:
        return str(ip_address(told.strip().partition("%")[0]))
    except ValueError:
        return None


def client_network(request: HttpRequest) -> str | None:
    """The address that tries are counted for: IPv4 itself, of IPv6 the /64, which is one customer's."""
    address = client_address(request)
    return None if address is None else _shortened(_unmapped(address), 32, 64).partition("/")[0]


def coarse_network(request: HttpRequest) -> str:
    """The network of the visitor's address, by which a person recognises a place: 203.0.113.0/24 or 2001:db8:1::/48."""
    address = client_address(request)
    return "" if address is None else _shortened(_unmapped(address), 24, 48)


def _unmapped(address: str) -> IPv4Address | IPv6Address:
    """IPv4 in IPv6's clothes (::ffff:203.0.113.7) is IPv4."""
    parsed = ip_address(address)
    return getattr(parsed, "ipv4_mapped", None) or parsed


def _shortened(address: IPv4Address | IPv6Address, bits_of_4: int, bits_of_6: int) -> str:
    bits = bits_of_4 if address.version == 4 else bits_of_6
    return str(ip_network(f"{address}/{bits}", strict=False))
