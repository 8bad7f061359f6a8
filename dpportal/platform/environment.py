"""Values of environment variables; an impossible one is refused at start."""

from __future__ import annotations

import os
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


def positive_integer(name: str, default: int, most: int = 999_999_999) -> int:
    """A whole number from 1 to `most`."""
    given = os.environ.get(name) or str(default)
    if not (given.isascii() and given.isdecimal() and 0 < int(given[:10]) <= most):
        raise ImproperlyConfigured(
            f"{name} must be a whole number from 1 to {most}. Change it, or leave it out for {default}."
        )
    return int(given)


def one_of(name: str, choices: Sequence[str]) -> str:
    """One of some words, the first if it is left out."""
    given = os.environ.get(name) or choices[0]
    if given not in choices:
        raise ImproperlyConfigured(
            f"{name} must be one of: {', '.join(choices)}. Change it, or leave it out."
        )
    return given


def networks(name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Addresses or networks, separated by commas or blanks; none if it is left out."""
    try:
        return tuple(ip_network(one) for one in os.environ.get(name, "").replace(",", " ").split())
    except ValueError as fault:
        raise ImproperlyConfigured(
            f"{name} must list addresses or networks such as 10.0.0.5 or 10.0.0.0/24, separated by commas: {fault}."
        ) from None


def origin(name: str) -> str:
    """The scheme, host and port of a server, or nothing."""
    given = os.environ.get(name, "")
    split = urlsplit(given)
    if given and (split.scheme not in ("https", "http") or given != f"{split.scheme}://{split.netloc}"):
        raise ImproperlyConfigured(
            f"{name} must be an origin such as https://s3.example, without a path. Change it, or leave it out."
        )
    if any(sign in given for sign in ";, '\""):
        raise ImproperlyConfigured(f"{name} must be an origin such as https://s3.example.")
    return given
