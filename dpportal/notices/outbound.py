"""One request to a host outside: its name is resolved once, and only an address that was checked is connected to.

No redirect is followed, no proxy of the environment is used, and of the answer only the status is read.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from celery.exceptions import SoftTimeLimitExceeded
from django.utils.translation import gettext as _

from dpportal.jobs.time_limits import limited
from dpportal.notices.internet_addresses import may_be_called

# To connect, or to wait for the next piece of an answer; and for all of a request, after which it is interrupted.
STEP_SECONDS, ALL_SECONDS, KILLED_AFTER_SECONDS = 5.0, 15.0, 60.0
HTTPS_PORT = 443
PORTS = {"https": HTTPS_PORT, "http": 80}


class HostRefusedError(Exception):
    """An address that may not be called; the message says why, and what to do."""


class UnreachableError(Exception):
    """Nothing answered in time, or not as a web server does; the message says what happened."""


@dataclass(frozen=True)
class Destination:
    """Where a web address leads. target: path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def named(self) -> str:
        """Host and port, as the receiver is told them."""
        return in_address(self.host) if self.port == PORTS[self.scheme] else with_port(self.host, self.port)

    @property
    def is_plain(self) -> bool:
        """Whether it is without encryption."""
        return self.scheme == "http"


def in_address(host: str) -> str:
    """A host as web addresses have it: numbers of IPv6 stand in brackets (RFC 3986)."""
    return f"[{host}]" if ":" in host else host


def with_port(host: str, port: int) -> str:
    """A host and its port, as people and receivers are told them."""
    return f"{in_address(host)}:{port}"


def place_of(address: str) -> Destination:
    """The parts of a web address. Raises ValueError with a sentence."""
    try:
        parts = urlsplit(address)
        port, host = parts.port, (parts.hostname or "").encode("idna").decode()
    except ValueError:
        parts, port, host = urlsplit(""), None, ""
    if parts.scheme not in PORTS or not host or not address.isprintable() or " " in address:
        raise ValueError(_("Type a whole web address, such as https://hooks.example/portal."))
    if parts.username or parts.password or parts.fragment:
        raise ValueError(_("Leave names, passwords and what follows “#” out of the address."))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(
        parts.scheme, host, port or PORTS[parts.scheme], target.encode("ascii", "backslashreplace").decode()
    )


def post(place: Destination, body: bytes, headers: Mapping[str, str], *, private: bool) -> int:
    """Send a body; returns the status of the answer.

    private: whether the host may be in a private network. Raises HostRefusedError and UnreachableError.
    """
    try:
        with limited(ALL_SECONDS, KILLED_AFTER_SECONDS):
            return _posted(place, _checked(place, private=private), body, headers)
    except (TimeoutError, SoftTimeLimitExceeded):
        raise UnreachableError(_("The host did not answer in time.")) from None
    except ssl.SSLError:
        raise UnreachableError(_("The host’s certificate is not good for its name.")) from None
    except (OSError, http.client.HTTPException):
        raise UnreachableError(_("The host could not be reached, or broke off.")) from None


def _checked(place: Destination, *, private: bool) -> list[str]:
    """The addresses of a host, all of which may be called."""
    try:
        resolved = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UnreachableError(_("The name of the host leads nowhere.")) from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in resolved))
    if not all(may_be_called(address, private=private) for address in addresses):
        text = _(
            "The name of the host leads into a private network, so nothing was sent. If it should, an administrator "
            "can allow that for this host."
        )
        raise HostRefusedError(text)
    return addresses


def _posted(place: Destination, addresses: list[str], body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(place.host, place.port, timeout=STEP_SECONDS)
    # A connection that is open already is used as it is, and no other one opened: no name is looked up again.
    connection.auto_open, connection.sock = 0, _connected(place, addresses)
    try:
        connection.request("POST", place.target, body, {"Host": place.named, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def _connected(place: Destination, addresses: list[str]) -> socket.socket:
    """A connection to the first of the addresses that takes one. Raises OSError."""
    for number, address in enumerate(addresses, 1):
        try:
            plain = socket.create_connection((address, place.port), STEP_SECONDS)
            break
        except OSError:
            if number == len(addresses):
                raise
    if place.is_plain:
        return plain
    try:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=place.host)
    except BaseException:
        plain.close()
        raise
