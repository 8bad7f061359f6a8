"""The server that sends the portal's mail, as a site names it: smtp+tls://user:password@host:587."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# The port that is usual for a scheme: without encryption, with it after a greeting (STARTTLS), with it from the start.
PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


@dataclass(frozen=True)
class MailServer:
    """What Django's SMTP backend needs to know."""

    host: str
    port: int
    user: str
    password: str
    scheme: str

    @classmethod
    def of(cls, address: str) -> MailServer:
        """Read an address. Raises ImproperlyConfigured, without the address: it holds a password."""
        try:
            parts = urlsplit(address)
            host, port = parts.hostname, parts.port or PORTS[parts.scheme]
        except (ValueError, KeyError):
            host, port = None, 0
        if not host:
            raise ImproperlyConfigured(
                "DPPORTAL_EMAIL_URL must be like smtp+tls://user:password@host:587, with smtp (no encryption), "
                "smtp+tls or smtps before the colon, and %-signs for special characters. Change it, or leave it out."
            )
        return cls(host, port, unquote(parts.username or ""), unquote(parts.password or ""), parts.scheme)

    def sender(self, given: str) -> str:
        """The address that mail comes from: the given one, or the user's. Raises ImproperlyConfigured."""
        sender = given or self.user
        if "@" not in sender:
            raise ImproperlyConfigured(
                "Set DPPORTAL_EMAIL_FROM to the address that the portal's mail comes from, such as portal@example.org."
            )
        return sender
