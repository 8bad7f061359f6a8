"""Passwords of connections: by name, from the environment or a file, never from the portal's database."""

from __future__ import annotations

import os
import re

from django.conf import settings
from django.utils.translation import gettext as _

from dpportal.connections.faults import SourceFault

# Of names that cannot lead out of the folder, nor to another variable of the environment.
NAME = "[a-z][a-z0-9_]{0,39}"


def variable(name: str) -> str:
    return f"DPPORTAL_CREDENTIAL_{name.upper()}"


def password(name: str) -> str:
    """The password called `name`. Raises SourceFault where there is none."""
    if not re.fullmatch(NAME, name):
        raise SourceFault("credential", _("This is no name of a credential."))
    if found := os.environ.get(variable(name)):
        return found
    try:
        found = (settings.CREDENTIALS_DIR / name).read_text().strip("\r\n")
    except (OSError, UnicodeDecodeError):
        found = ""
    if not found:
        raise SourceFault(
            "credential",
            _(
                "There is no credential “%(name)s” on this machine. Set %(variable)s for web server and workers, or "
                "put the password into the file %(name)s of the folder for credentials."
            )
            % {"name": name, "variable": variable(name)},
        )
    return found
