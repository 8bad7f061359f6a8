"""Columns that are sealed in the database: a dump, or the admin, shows nothing of them."""

from __future__ import annotations

import json
import logging
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any, Never

from django.conf import settings
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from dpportal.platform.keys import ID_BYTES, UnsealError
from dpportal.platform.sealing_faults import KeyMissingFault

log = logging.getLogger(__name__)

# Values are padded to a multiple of so many bytes.
STEP = 64


@dataclass(frozen=True)
class UndecryptableValue:
    """A value whose key the portal does not have: shown as unknown, and written back unchanged."""

    sealed: bytes

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return "–"

    def __getitem__(self, name: str) -> Never:
        """No part of it is known either. Raises KeyMissingFault."""
        raise self._fault()

    def get(self, name: str, default: object = None) -> Never:
        """A default would be taken for what is sealed. Raises KeyMissingFault."""
        raise self._fault()

    def _fault(self) -> KeyMissingFault:
        return KeyMissingFault(settings.MASTER_KEYS.missing or self.sealed[:ID_BYTES].hex())


class SealedField(models.BinaryField[Any, Any]):
    """A JSON value, sealed with the key outside the database and bound to this column. It cannot be searched."""

    # What the type checker's Django plugin takes an attribute of this field to be.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    description = "a sealed JSON value"

    def from_db_value(self, value: bytes | str | float | None, *_: object) -> object:
        # SQLite gives back whatever somebody wrote past the portal.
        if isinstance(value, str | int | float):
            value = str(value).encode()
        return None if value is None else self._opened(bytes(value))

    def get_db_prep_value(
        self, value: object, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> object:
        sealed = None if value is None else self._sealed(value)
        return super().get_db_prep_value(sealed, connection, prepared)

    def value_from_object(self, obj: models.Model) -> str | None:
        """The value for `dumpdata`: sealed, too."""
        value = getattr(obj, self.attname)
        return None if value is None else b64encode(self._sealed(value)).decode()

    def value_to_string(self, obj: models.Model) -> str:
        return str(self.value_from_object(obj) or "")

    def to_python(self, value: object) -> object:
        """The value from `loaddata`."""
        return UndecryptableValue(b64decode(value)) if isinstance(value, str) else value

    def get_default(self) -> object:
        return self.default() if self.has_default() else None

    @property
    def name_of_seal(self) -> str:
        """The name that the values are bound to."""
        return f"{self.model._meta.label_lower}.{self.name}"

    def _sealed(self, value: object) -> bytes:
        if isinstance(value, UndecryptableValue):
            return value.sealed
        text = json.dumps(value).encode()
        try:
            return settings.STREAM_KEYS.seal_json(text, bound_to=self.name_of_seal, step=STEP)
        except UnsealError as fault:
            raise KeyMissingFault(fault.key) from None

    def _opened(self, sealed: bytes) -> object:
        try:
            return json.loads(settings.STREAM_KEYS.unseal(sealed, bound_to=self.name_of_seal))
        except UnsealError as fault:
            log.error("%s was %s", self.name_of_seal, fault)
            return UndecryptableValue(sealed)
