"""The portal's own secrets: from the environment, or files in `keys/` of the data folder, wrapped by the master key.

A copy of the data folder has none of them without the master key. Files that an earlier version or an operator wrote as
plain text are wrapped at the next start, and what a former master key wrapped is wrapped by the present one.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from dpportal.platform import keys
from dpportal.platform.keys import UnsealError, good
from dpportal.platform.master_key import COMMAND, FORMER, VARIABLE, MasterKey

# Begins a line that is wrapped. It has no blank, since blanks separate former secrets.
WRAPPED = "wrapped:"


@dataclass(frozen=True)
class SecretFiles:
    """The secrets of a data folder, as the master key opens them."""

    folder: Path
    master: MasterKey

    def current(self, name: str) -> str:
        """The secret called `name`: the variable DPPORTAL_<NAME> if set, else the file keys/<name>, made on first use.

        Empty where the master key that wraps it is missing. Raises ImproperlyConfigured for one that is too short or
        too simple to be secret, such as an empty file, and for one that this master key did not wrap.
        """
        variable = f"DPPORTAL_{name.upper()}"
        if variable in os.environ:
            return good(os.environ[variable], f"The variable {variable}")
        path = self.folder / "keys" / name
        if not path.exists() and not self._make(path):
            return ""
        text = path.read_text()
        secret = self._opened(text, path, name)
        if secret is None:
            return ""
        self._wrap(path, name, [text], [good(secret, f"The key file {path}")])
        return secret

    def former(self, name: str) -> list[str]:
        """Former secrets called `name`: of DPPORTAL_<NAME>_OLD if set, else of the file keys/<name>.old, one a line.

        A line is plain, or as it was in the file keys/<name>. Any key that was ever in use is accepted. Those that a
        missing master key wraps are left out.
        """
        variable, path = f"DPPORTAL_{name.upper()}_OLD", self.folder / "keys" / f"{name}.old"
        if variable in os.environ:
            return os.environ[variable].split()
        if not path.exists():
            return []
        lines = path.read_text().split()
        opened = [secret for line in lines if (secret := self._opened(line, path, name)) is not None]
        if len(opened) == len(lines):
            self._wrap(path, name, lines, opened)
        return opened

    def wrap_given(self, path: Path, name: str) -> None:
        """Wrap what an operator wrote into a file. name: the variable's that may have it instead, and of no other file.

        Raises ImproperlyConfigured where that cannot be.
        """
        text = path.read_text()
        secret = self._opened(text, path, name)
        if secret is not None:
            self._wrap(path, name, [text], [secret])

    def given(self, path: Path, name: str) -> str:
        """What such a file holds, wrapped or not; empty where the master key is missing."""
        return self._opened(path.read_text(), path, name) or ""

    def _make(self, path: Path) -> bool:
        """Make a secret; False where the master key is missing, without which it would lie there in plain text."""
        if self.master.missing:
            return False
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        keys.make(path, self._wrapped(keys.new_secret(), path.name))
        return True

    def _wrapped(self, secret: str, name: str) -> str:
        sealed = self.master.keyring().seal(secret.encode(), bound_to=_bound(name))
        return WRAPPED + b64encode(sealed).decode()

    def _opened(self, text: str, path: Path, name: str) -> str | None:
        """The secret in a text, wrapped or not; None where the master key is missing."""
        if not is_wrapped(text):
            return text
        try:
            sealed = b64decode(text.strip().removeprefix(WRAPPED), validate=True)
            return self.master.keyring().unseal(sealed, bound_to=_bound(name)).decode()
        except ValueError:
            raise _not_opened(path, UnsealError()) from None
        except UnsealError as fault:
            if self.master.missing:
                return None
            raise _not_opened(path, fault) from None

    def _wrap(self, path: Path, name: str, lines: Sequence[str], opened: Sequence[str]) -> None:
        """Write a file anew unless the present master key wraps all of it.

        Of several processes at once each writes the same secrets, so whichever comes last is right.
        """
        if self.master.missing or all(map(self._is_up_to_date, lines)):
            return
        try:
            keys.replace(path, "\n".join(self._wrapped(secret, name) for secret in opened))
            _remove_plain_parts(path, opened)
        except OSError as fault:
            raise ImproperlyConfigured(
                f"The key file {path} cannot be wrapped by the master key ({fault.strerror}). Make it and its folder "
                f"writable for the portal's account, or give the secret by the variable DPPORTAL_{name.upper()}."
            ) from None

    def _is_up_to_date(self, line: str) -> bool:
        sealed = b64decode(line.strip().removeprefix(WRAPPED)) if is_wrapped(line) else b""
        return sealed[: keys.ID_BYTES].hex() == self.master.keyring().current


def is_wrapped(text: str) -> bool:
    """Whether a text of a key file is wrapped, by whatever master key."""
    return text.startswith(WRAPPED)


def _bound(name: str) -> str:
    return f"secret {name}"


def _remove_plain_parts(path: Path, opened: Sequence[str]) -> None:
    """Remove what an earlier version left where it died while it made a key."""
    for part in keys.parts_of(path):
        with suppress(FileNotFoundError):
            if part.read_text() in opened:
                part.unlink()


def _not_opened(path: Path, fault: UnsealError) -> ImproperlyConfigured:
    if fault.key:
        return ImproperlyConfigured(
            f"The key file {path} is wrapped by the master key {fault.key}, which the portal does not have. Give that "
            f"key again ({VARIABLE}, {COMMAND} or its file), or, if it was replaced, as a former one ({FORMER}, or the "
            "file's name with .old)."
        )
    return ImproperlyConfigured(
        f"The key file {path} was changed since the portal wrote it, or is another one's. Put it back from a backup."
    )
