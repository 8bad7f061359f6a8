"""What an engine knows of another database and of its tables, whoever stores that."""

from __future__ import annotations

from typing import Protocol

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Encryption(TextChoices):
    """How a connection is protected, from the most to the least."""

    VERIFIED = "verify-full", _("encrypted, and the server's certificate is verified")
    ENCRYPTED = "require", _("encrypted")
    NONE = "disable", _("not encrypted: on this machine or a trusted network only")


class Server(Protocol):
    """Another database and the limits of what it is asked. kind: of `registry.MODULES`. encryption: of `Encryption`.

    credential: its password's name. seconds, most_rows, most_bytes: of one query.
    """

    kind: str
    host: str
    port: int
    database: str
    user: str
    credential: str
    encryption: str
    seconds: int
    most_rows: int
    most_bytes: int

    @property
    def address(self) -> str:
        """Its host and port in one spelling."""


class ServerTable(Protocol):
    """A table of it or, where `query` is not empty, that query."""

    schema: str
    table: str
    query: str

    @property
    def connection(self) -> Server:
        """The database that has it."""
