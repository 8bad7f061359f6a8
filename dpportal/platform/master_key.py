"""The master key, which wraps what seals people's records. It is neither in the database nor in the data folder.

It comes from the variable DPPORTAL_MASTER_KEY, from a command that fetches it (DPPORTAL_MASTER_KEY_COMMAND), so that a
key management service can keep it, or from a file (DPPORTAL_MASTER_KEY_FILE), which is made at the first start. The
data folder keeps the identity of the key alone: where the key is missing then, no other one is made in its place.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from dpportal.platform import keys
from dpportal.platform.keys import Keyring, key_id

VARIABLE = "DPPORTAL_MASTER_KEY"
COMMAND, FILE, FORMER = f"{VARIABLE}_COMMAND", f"{VARIABLE}_FILE", f"{VARIABLE}_OLD"
COMMAND_SECONDS = 60
# In the data folder, beside its other keys: the identity of the master key that was in use last.
USED = "master_key.used"


@dataclass(frozen=True)
class MasterKey:
    """The key, and former ones that still open what they wrapped.

    missing: the identity of the key that the data folder was sealed with, where nobody gives it; else empty.
    """

    secrets: tuple[str, ...]
    missing: str = ""

    def keyring(self) -> Keyring:
        """What wraps the datasets' own keys."""
        return Keyring(*self.secrets, missing=self.missing)

    def around(self, current: str, *former: str) -> Keyring:
        """A keyring whose keys need the master key, too; what they sealed alone in earlier versions still opens.

        current: empty where the master key is missing.
        """
        inner = tuple(filter(None, (current, *former)))
        both = [f"{master} {one}" for master in self.secrets for one in inner]
        return Keyring(*both, *inner, missing=self.missing)


def given(folder: Path) -> MasterKey:
    """The master key of a data folder. Raises ImproperlyConfigured where a source fails or names no good key."""
    file = Path(os.environ.get(FILE) or f"{folder}.{VARIABLE.removeprefix('DPPORTAL_').lower()}")
    used = folder / "keys" / USED
    current = _from_outside() or _from_file(file, is_first=not used.exists())
    secrets = (*([current] if current else []), *_former(file))
    last = used.read_text().strip() if used.exists() else ""
    if last and last not in map(key_id, secrets):
        return MasterKey(secrets, missing=last)
    if not current:
        return MasterKey(secrets, missing=last)
    _note(used, key_id(current))
    return MasterKey(secrets)


def _from_outside() -> str:
    if VARIABLE in os.environ:
        return keys.good(os.environ[VARIABLE].strip(), f"The variable {VARIABLE}")
    if command := os.environ.get(COMMAND):
        return keys.good(_answer(command), f"What {COMMAND} prints")
    return ""


def _answer(command: str) -> str:
    """What the command prints: the key. Its own messages are not shown, which could quote it."""
    try:
        done = subprocess.run(  # noqa: S603 the operator's own command
            shlex.split(command), capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError) as fault:
        raise ImproperlyConfigured(
            f"{COMMAND} did not give the master key ({type(fault).__name__}). Run the command by hand as the portal's "
            "account; it has to print the key and end with status 0 within a minute."
        ) from None
    return done.stdout.strip()


def _from_file(file: Path, *, is_first: bool) -> str:
    """The key in the file, made at the first start; empty where it is gone."""
    if not file.exists() and is_first:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            keys.make(file)
        except OSError as fault:
            raise ImproperlyConfigured(
                f"The master key {file} cannot be made ({fault.strerror}). Name another place outside the data folder "
                f"by {FILE}, or give the key by {VARIABLE} or {COMMAND}."
            ) from None
    try:
        return keys.good(file.read_text().strip(), f"The master key {file}") if file.exists() else ""
    except OSError as fault:
        raise ImproperlyConfigured(
            f"The master key {file} cannot be read ({fault.strerror}). Make it readable for the portal's account."
        ) from None


def _former(file: Path) -> list[str]:
    if FORMER in os.environ:
        return os.environ[FORMER].split()
    former = file.with_name(f"{file.name}.old")
    return former.read_text().split() if former.exists() else []


def _note(used: Path, identity: str) -> None:
    if used.exists() and used.read_text().strip() == identity:
        return
    used.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = used.with_name(f".{used.name}.{os.getpid()}")
    part.write_text(identity)
    part.replace(used)
