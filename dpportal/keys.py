"""Secret keys: from the environment, or made once and kept beside the data, readable by its owner only."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def secret(name: str, folder: Path) -> str:
    """The secret called `name`: the variable DPPORTAL_<NAME> if set, else the file keys/<name>, made on first use."""
    given = os.environ.get(f"DPPORTAL_{name.upper()}")
    if given:
        return given
    path = folder / "keys" / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text()
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48))
    return path.read_text()
