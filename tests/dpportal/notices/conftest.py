"""A receiver whose host an administrator allowed, and a curator's webhook there."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from dpportal.notices import hosts, services
from dpportal.notices.events import CHOICES
from dpportal.notices.models import AllowedHost, Webhook
from tests.dpportal.notices.receiver import Receiver, receiving

ORIGIN = "https://portal.example"
EVERY_KIND = [value for value, _label in CHOICES]


@pytest.fixture
def names(monkeypatch) -> dict[str, list[str]]:
    """What names lead to: the resolver, and nothing else, is replaced."""
    known = {"hooks.example": ["127.0.0.1"]}
    real = socket.getaddrinfo

    def resolved(host, port, *args, **kwargs):
        found = [real(address, port, *args, **kwargs) for address in known.get(host, [host])]
        return [entry for entries in found for entry in entries]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    return known


@pytest.fixture
def receiver(names) -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def host(receiver, administrator) -> AllowedHost:
    line = AllowedHost(host="hooks.example", port=receiver.port, plain=True, private=True)
    return hosts.allow(line, administrator)


@pytest.fixture
def hook(host, receiver, curator) -> tuple[Webhook, str]:
    """Of the curator, for all events; and its secret."""
    return services.add(curator, receiver.address, EVERY_KIND, ORIGIN)
