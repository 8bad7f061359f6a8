"""Passwords of connections: by name, from the environment or a file, never from the portal's database.

Files in the data folder are wrapped by the master key when the portal starts, so a copy of it opens no database.
Those in a folder that a site names stay as they are: whoever mounts secrets there protects and renews them.

A credential names its server, its engine and its least encryption, so that an editor of connections can send it nowhere
else, and in no other way.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _

from dpportal.tables.engines.server import Encryption, Server
from dpportal.tables.faults import SourceFault

# Of names that cannot lead out of the folder, nor to another variable of the environment.
NAME = "[a-z][a-z0-9_]{0,39}"
FORM = '{"engine": "postgresql", "host": "db.example.org", "port": 5432, "encryption": "verify-full", "password": "…"}'
FIELDS = {"engine", "host", "port", "encryption", "password"}


@dataclass(frozen=True)
class Credential:
    """password: empty where a server asks for none. engine: of a connection. encryption: the least, of `Encryption`.

    Engines differ in what they send: PostgreSQL shows a server nothing that ClickHouse would not put in a header.
    """

    engine: str
    host: str
    port: int
    encryption: str
    password: str

    def allows(self, connection: Server) -> bool:
        """Whether it is for this connection's server, of this engine, so encrypted."""
        strengths = Encryption.values
        enough = strengths.index(connection.encryption) <= strengths.index(self.encryption)
        own = (self.engine, _plain(self.host), self.port)
        return enough and own == (connection.kind, _plain(connection.host), connection.port)


def variable(name: str) -> str:
    """The environment variable that has a password."""
    return f"DPPORTAL_CREDENTIAL_{name.upper()}"


def password(connection: Server) -> str:
    """The password for a connection. Raises SourceFault where there is none for its server, so encrypted."""
    credential = _read(connection.credential)
    if not credential.allows(connection):
        raise SourceFault(
            "credential-for-another",
            _(
                "The credential “%(name)s” is for another engine, host, port or encryption than this connection has, "
                "so nothing was sent. Correct it; else whoever runs the portal adds a credential for this server."
            )
            % {"name": connection.credential},
        )
    return credential.password


def _read(name: str) -> Credential:
    if not re.fullmatch(NAME, name):
        raise SourceFault("credential-name", _("This is no name of a credential."))
    stored = _stored(name)
    if not stored:
        raise SourceFault(
            "credential-missing",
            _(
                "There is no credential “%(name)s” on this machine. Set %(variable)s for web server and workers, or "
                "make the file %(name)s in the folder for credentials, with %(form)s."
            )
            % {"name": name, "variable": variable(name), "form": FORM},
        )
    try:
        return _parsed(json.loads(stored))
    except (ValueError, TypeError, KeyError):
        # Without the error's own words, which quote what was read.
        raise SourceFault(
            "credential-form",
            _(
                "The credential “%(name)s” does not say for which server it is. Whoever runs the portal writes into "
                "%(variable)s, or into the file, engine, host, port, least encryption (disable, require or "
                "verify-full) and password: %(form)s."
            )
            % {"name": name, "variable": variable(name), "form": FORM},
        ) from None


def wrap_all() -> None:
    """Wrap the files of the data folder that are plain, or that a former master key wrapped."""
    folder = settings.DATA_DIR / "credentials"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if re.fullmatch(NAME, path.name):
            settings.SECRETS.wrap_given(path, f"credential_{path.name}")


def _stored(name: str) -> str:
    if text := os.environ.get(variable(name)):
        return text
    try:
        return str(settings.SECRETS.given(settings.CREDENTIALS_DIR / name, f"credential_{name}")).strip()
    except (OSError, UnicodeDecodeError, ImproperlyConfigured):
        return ""


def _parsed(fields: dict[str, object]) -> Credential:
    """Raises ValueError, TypeError or KeyError unless every field is what it has to be, and no other is there."""
    engine, host, port, encryption = (fields[name] for name in ("engine", "host", "port", "encryption"))
    secret = fields.get("password", "")
    if not (isinstance(host, str) and host and isinstance(secret, str)) or type(port) is not int:
        raise TypeError
    if encryption not in Encryption.values or fields.keys() - FIELDS:
        raise ValueError
    return Credential(str(engine), host, port, str(encryption), secret)


def _plain(host: str) -> str:
    """A host in small letters, an IPv6 address without brackets."""
    return host.strip("[]").rstrip(".").lower()
