"""Which internet addresses a webhook may lead to: none inside, unless an administrator said so of its host."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address

# What a host in a private network may have; link-local addresses, where clouds answer for machines, are never called.
PRIVATE: tuple[IPv4Network | IPv6Network, ...] = tuple(
    ip_network(text)
    for text in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8"),
        *("fc00::/7", "::1/128"),
    )
)
# IPv6 addresses that stand for an IPv4 address, in their last 32 bits (RFC 6052, RFC 4291).
TRANSLATED = IPv6Network("64:ff9b::/96")
COMPATIBLE = IPv6Network("::/96")
# Translated by each network in its own way (RFC 8215), so nobody knows where they lead.
LOCALLY_TRANSLATED = IPv6Network("64:ff9b:1::/48")


# Numbers of IPv4 as a computer reads them, which are also 127.1, 2130706433 and 0x7f000001.
NUMBERS = re.compile(r"[0-9a-fx.]+")
# Names that lead to the machine itself wherever they are looked up (RFC 6761).
LOCALHOST, LOOPBACK = "localhost", "127.0.0.1"


def written_address(host: str) -> str | None:
    """The address that a host's name is already, in any spelling; None of a name that has to be looked up."""
    name = host.lower().rstrip(".")
    if name == LOCALHOST or name.endswith(f".{LOCALHOST}"):
        return LOOPBACK
    try:
        return str(ip_address(name.partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(name)) if NUMBERS.fullmatch(name) else None
    except OSError:
        return None


def may_be_called(text: str, *, private: bool) -> bool:
    """Whether an address, and each that it stands for, is public; or also one of PRIVATE, where that is allowed."""
    address = ip_address(text.partition("%")[0])
    return all(_is_public(each) or (private and _is_private(each)) for each in _meant(address))


def _meant(address: Address) -> Iterator[Address]:
    """The addresses at which a connection to this one may end."""
    if not isinstance(address, IPv6Address):
        yield address
        return
    embedded = list(_embedded(address))
    yield from embedded
    if not embedded:
        yield address


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for (mapped, 6to4, Teredo, NAT64, compatible)."""
    last = IPv4Address(int(address) & 0xFFFFFFFF)
    if address in TRANSLATED or (address in COMPATIBLE and int(address) > 1):
        yield last
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and (address.is_site_local or address in LOCALLY_TRANSLATED):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _is_private(address: Address) -> bool:
    return any(address in network for network in PRIVATE if network.version == address.version)
