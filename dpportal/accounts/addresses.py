"""Where a request comes from."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

IPNetwork = IPv4Network | IPv6Network


def client_address(request: HttpRequest) -> str | None:
    """The visitor's address: the connection's own, or behind declared proxies the one that the outermost saw.

    A proxy appends to X-Forwarded-For whom it saw, so it is read from its end, as long as a declared proxy wrote; what
    stands before that a visitor can write.
    """
    address = read_address(request.META.get("REMOTE_ADDR", ""))
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    while forwarded and _is_within(address, settings.PROXIES):
        before = read_address(forwarded.pop())
        if before is None:
            break
        address = before
    return None if address is None else str(address)


def comes_from_proxy(request: HttpRequest) -> bool:
    """Whether a declared proxy sent it, whose X-Forwarded headers are believed."""
    return is_in_networks(request.META.get("REMOTE_ADDR", ""), settings.PROXIES)


def is_in_networks(address: str | None, networks: Iterable[IPNetwork]) -> bool:
    """Whether an address is in one of the networks; nobody's is in none."""
    return _is_within(read_address(address or ""), networks)


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """None if it is none. An IPv4 address that is written as IPv6 is the IPv4 address."""
    try:
        address = ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _is_within(address: IPv4Address | IPv6Address | None, networks: Iterable[IPNetwork]) -> bool:
    return address is not None and any(address in network for network in networks)


def client_network(request: HttpRequest) -> str | None:
    """The address that tries are counted for: IPv4 itself, of IPv6 the /64, which is one customer's."""
    address = client_address(request)
    return None if address is None else network_of(address)


def network_of(text: str) -> str:
    """The same of an address that was written down; what is none stays as it is."""
    address = read_address(text)
    return text if address is None else _shortened(address, 32, 64).partition("/")[0]


def coarse_network(request: HttpRequest) -> str:
    """The network of the visitor's address, by which a person recognises a place: 203.0.113.0/24 or 2001:db8:1::/48."""
    address = client_address(request)
    return "" if address is None else _shortened(ip_address(address), 24, 48)


def _shortened(address: IPv4Address | IPv6Address, bits_of_4: int, bits_of_6: int) -> str:
    bits = bits_of_4 if address.version == 4 else bits_of_6
    return str(ip_network(f"{address}/{bits}", strict=False))
