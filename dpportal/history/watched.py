"""Models whose rows have their state in the chain: each write by Django's own means notes it, in its transaction."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save

from dpportal.history import imprints
from dpportal.history.imprints import ForgedRowError, ImprintKind, StoredState
from dpportal.platform.sealed import UndecryptableValue
from dpportal.platform.storage import StorageFault

M = TypeVar("M", bound=models.Model)
T = TypeVar("T")
EVERY = models.Q()
# Readings of a row that the portal may just be writing, and the pause between them.
READ_AT_MOST, PAUSE_SECONDS = 6, 0.05
# Where an instance that is being saved has what its row was.
BEFORE = "_imprinted_before"


@dataclass(frozen=True)
class Forgettable:
    """Fields that were read from records: what is noted of them says nothing once the row's own key is gone.

    key: of a row, by its key in the table; None where it has none, and then nothing in it is of records. Raises
    StorageFault where it cannot be opened now. Whoever makes or destroys it notes the row.
    """

    fields: Collection[str] = ()
    key: Callable[[Any], bytes | None] = lambda _row: None

    def parts(self, row: Mapping[str, Any]) -> dict[str, object]:
        """By names of their own: an earlier version noted the fields themselves."""
        if not self.fields:
            return {}
        try:
            key = self.key(row["pk"])
        except StorageFault:
            return {self.part(name): UndecryptableValue(b"") for name in self.fields}
        return {self.part(name): self._value(key, name, row[name]) for name in self.fields}

    @staticmethod
    def part(name: str) -> str:
        return f"read {name}"

    @staticmethod
    def _value(key: bytes | None, name: str, value: object) -> object:
        if key is None or isinstance(value, UndecryptableValue):
            return value
        return hmac.new(key, json.dumps([name, value], sort_keys=True).encode(), sha256).hexdigest()


class Watch:
    """The fields of a model that are noted, of the rows that `rows` chooses."""

    def __init__(
        self,
        model: type[models.Model],
        fields: Collection[str],
        rows: models.Q,
        forgettable: Forgettable = Forgettable(),
    ) -> None:
        self.model, self.rows, self.forgettable = model, rows, forgettable
        self.sets = [field for field in model._meta.many_to_many if field.name in fields]
        own = [field for field in model._meta.concrete_fields if {field.name, field.attname} & {*fields}]
        self.columns = [field.attname for field in own]
        self.names = {*fields, *self.columns, *forgettable.fields}
        if unknown := {*fields} - {field.name for field in [*own, *self.sets]}:
            raise ValueError(f"{model.__name__} has no {', '.join(sorted(unknown))}")
        parts = [*self.columns, *map(forgettable.part, forgettable.fields)]
        parts += [field.name for field in self.sets]
        self.kind = ImprintKind(
            str(model._meta.model_name), self.states, parts, begins_with_line=self.rows == EVERY
        )

    def states(self, subjects: Collection[str] | None) -> Iterator[tuple[str, StoredState]]:
        rows = self.model._base_manager.filter(self.rows).order_by("pk")
        if subjects is not None:
            rows = rows.filter(pk__in=subjects)
        for row in rows.values("pk", *self.columns, *self.forgettable.fields).iterator(chunk_size=1000):
            sets = {field.name: self._members(field, row["pk"]) for field in self.sets}
            own = {name: row[name] for name in self.columns}
            yield str(row["pk"]), {**own, **self.forgettable.parts(row), **sets}

    def _members(self, field: models.ManyToManyField[Any, Any], key: object) -> list[str]:
        """The keys of what a row is bound to by a set."""
        through: type[models.Model] = field.remote_field.through  # type: ignore[assignment]
        pairs = through._base_manager.filter(**{field.m2m_field_name(): key})
        return sorted(map(str, pairs.values_list(f"{field.m2m_reverse_field_name()}_id", flat=True)))

    def parts_of(self, names: Collection[str]) -> set[str]:
        """What of a row is noted under these names of fields."""
        fields = self.model._meta.concrete_fields
        columns = {field.attname for field in fields if {field.name, field.attname} & {*names}} & {
            *self.columns
        }
        read = {self.forgettable.part(name) for name in self.forgettable.fields if name in names}
        return columns | read | {field.name for field in self.sets if field.name in names}

    def note(
        self,
        keys: Collection[object],
        names: Collection[str] | None = None,
        written: Mapping[str, object] | None = None,
    ) -> None:
        """names: of the fields that were written; None for all, of rows that are new or gone. written: their values."""
        parts = None if names is None else self.parts_of(names)
        imprints.note(self.kind, [str(key) for key in keys], parts, self._known(written or {}))

    def _known(self, written: Mapping[str, object]) -> StoredState:
        """Values of JSON as a database gives them back: a plan is by what noise is drawn, and no other may be noted."""
        fields = (self.model._meta.get_field(name) for name in {*written} & {*self.columns})
        return {
            field.name: json.loads(json.dumps(written[field.name], cls=field.encoder))
            for field in fields
            if isinstance(field, models.JSONField) and not hasattr(written[field.name], "resolve_expression")
        }

    def state_of(self, key: object) -> StoredState | None:
        """What a row is; None where there is none, or none that is noted."""
        return dict(self.states([str(key)])).get(str(key))

    def note_changes(self, key: object, before: StoredState | None) -> None:
        """Of a row that was saved with all its fields what they changed. before: `state_of` it then."""
        now = self.state_of(key) or {}
        if now != (before or {}):
            changed = {part for part, value in now.items() if before and value != before.get(part)}
            imprints.note_state(self.kind, str(key), now, changed if before else None)

    def is_written(self, row: models.Model, names: Collection[str] = ()) -> bool:
        """Whether a row's own fields, or those of these names, are as they are in memory what its newest line says."""
        return imprints.says(self.kind, str(row.pk), self.values_of(row, names))

    def values_of(self, row: models.Model, names: Collection[str] = ()) -> StoredState:
        """A row's own fields, or those of these names, as they are in memory."""
        return {name: getattr(row, name) for name in names or self.columns}


_watches: dict[type[models.Model], Watch] = {}


def watch(
    model: type[models.Model],
    *fields: str,
    rows: models.Q = EVERY,
    forgettable: Forgettable = Forgettable(),
) -> None:
    """Note these fields of a model's rows from now on. Its default manager has to be of the classes below."""
    _watches[model] = Watch(model, fields, rows, forgettable)
    imprints.declare(_watches[model].kind)
    pre_save.connect(_saving, sender=model)
    post_save.connect(_saved, sender=model)
    post_delete.connect(_deleted, sender=model)
    for field in _watches[model].sets:
        m2m_changed.connect(_set_changed, sender=field.remote_field.through)


def _saving(
    sender: type[models.Model],
    instance: models.Model,
    raw: bool,
    update_fields: frozenset[str] | None,
    **_: object,
) -> None:
    if not raw and update_fields is None and not instance._state.adding:
        vars(instance)[BEFORE] = _watches[sender].state_of(instance.pk)


def _saved(
    sender: type[models.Model],
    instance: models.Model,
    created: bool,
    raw: bool,
    update_fields: frozenset[str] | None,
    **_: object,
) -> None:
    watch, before = _watches[sender], vars(instance).pop(BEFORE, None)
    if raw:
        return
    if created:
        watch.note([instance.pk], None, vars(instance))
    elif update_fields is None:
        watch.note_changes(instance.pk, before)
    elif watch.names & update_fields:
        watch.note([instance.pk], update_fields, {name: vars(instance).get(name) for name in update_fields})


def _deleted(sender: type[models.Model], instance: models.Model, **_: object) -> None:
    _watches[sender].note([instance.pk])


def written(rows: models.QuerySet[M], key: object) -> M:
    """A row, once it is in memory what the portal wrote: whoever draws or signs by it reads it no second time.

    Raises ForgedRowError, and DoesNotExist. It is read again where the portal was just writing it.
    """

    def read() -> M:
        row = rows.get(pk=key)
        require_written(row)
        return row

    return read_again(read)


def require_written(*rows: models.Model) -> None:
    """Raise ForgedRowError unless rows that were read are, as they are in memory, what the portal wrote."""
    for row in rows:
        require_fields(row)


def require_all(
    rows: Collection[models.Model], model: type[models.Model], column: str, values: Collection[object]
) -> None:
    """The same of all rows that have one of these values in a column: none that the portal wrote may be missing.

    The lines of all rows of the model are read once: those of rows that are gone are found by nothing else.
    """
    watch, own = _watches[model], {str(row.pk): row for row in rows}
    newest = imprints.newest_of(watch.kind)
    unread = {name: line for name, line in newest.items() if name not in own}
    missing = sorted(imprints.subjects_with(watch.kind, unread, column, values))
    changed = [
        name
        for name, row in own.items()
        if not imprints.is_stated(watch.kind, name, watch.values_of(row), newest.get(name, {}))
    ]
    if other := next(iter([*missing, *changed]), ""):
        raise ForgedRowError(f"{model._meta.model_name} {other}")


def require_fields(row: models.Model, *names: str) -> None:
    """The same of some fields, by which something is told or read; without names of all that are noted."""
    if not _watches[type(row)].is_written(row, names):
        raise ForgedRowError(f"{row._meta.model_name} {row.pk}")


def read_again(read: Callable[[], T]) -> T:
    """What `read` gives once it raises no ForgedRowError: the portal may just be writing what it reads."""
    for _attempt in range(READ_AT_MOST - 1):
        with suppress(ForgedRowError):
            return read()
        time.sleep(PAUSE_SECONDS)
    return read()


def note(model: type[models.Model], keys: Collection[object], *names: str) -> None:
    """Note fields of rows of which Django says nothing: those at the other end of a set whose rows are of one model."""
    _watches[model].note(keys, names)


def note_read(model: type[models.Model], keys: Collection[object]) -> None:
    """Note what was read from records, whose key was made or destroyed."""
    _watches[model].note(keys, _watches[model].forgettable.fields)


def _set_changed(sender: type[models.Model], instance: models.Model, action: str, **_: object) -> None:
    """Raises TypeError for `clear`, which does not say what goes."""
    if action == "pre_clear":
        raise TypeError("Remove what a set has by name: `clear` does not say what goes.")
    if action in ("post_add", "post_remove"):
        watch = _watches[type(instance)]
        watch.note(
            [instance.pk], [field.name for field in watch.sets if field.remote_field.through is sender]
        )


class WatchedQuerySet(models.QuerySet[M]):
    """Notes what it changes of many rows at once, for which Django sends no signal."""

    def update(self, **values: Any) -> int:
        watch = _watches.get(self.model)
        if watch is None or not watch.names & values.keys():
            return super().update(**values)
        with transaction.atomic(using=self.db):
            keys = list(self.values_list("pk", flat=True))
            changed = super().update(**values)
            if changed:
                watch.note(keys, values, values)
        return changed

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Any, *arguments: Any, **options: Any) -> list[M]:
        with transaction.atomic(using=self.db):
            rows = super().bulk_create(objs, *arguments, **options)
            if watch := _watches.get(self.model):
                watch.note([row.pk for row in rows])
        return rows


class WatchedManager(models.Manager[M]):
    """The manager of a model that has no queryset of its own."""

    def get_queryset(self) -> WatchedQuerySet[M]:
        return WatchedQuerySet(self.model, using=self._db)
