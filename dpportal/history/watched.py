"""Models whose rows have their state in the chain: each write by Django's own means notes it, in its transaction."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_save

from dpportal.history import imprints
from dpportal.history.imprints import ForgedRowError, ImprintKind, StoredState
from dpportal.history.values_in_memory import WrittenValues, values_of
from dpportal.platform.sealed import UndecryptableValue
from dpportal.platform.sealing_faults import KeyMissingFault
from dpportal.platform.storage import StorageFault

M = TypeVar("M", bound=models.Model)
T = TypeVar("T")
EVERY = models.Q()
# Readings of a row that the portal may just be writing, and the pause between them.
READ_AT_MOST, PAUSE_SECONDS = 6, 0.05
# Where an instance that is being saved has what its row was, and one whose set changes its members before.
BEFORE, MEMBERS = "_imprinted_before", "_members_before"


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
        read = [field for field in model._meta.concrete_fields if field.name in forgettable.fields]
        self.own_fields = [*own, *read]
        self.columns = [field.attname for field in own]
        self.names = {*fields, *self.columns, *forgettable.fields}
        if unknown := {*fields} - {field.name for field in [*own, *self.sets]}:
            raise ValueError(f"{model.__name__} has no {', '.join(sorted(unknown))}")
        parts = [*self.columns, *map(forgettable.part, forgettable.fields)]
        parts += [field.name for field in self.sets]
        self.kind = ImprintKind(str(model._meta.model_name), self.states, parts)

    def states(
        self, subjects: Collection[str] | None, written: Mapping[str, WrittenValues] | None = None
    ) -> Iterator[tuple[str, StoredState]]:
        """written: by subject what was written of it just now, which is said of it whatever its row has."""
        rows = self.model._base_manager.filter(self.rows).order_by("pk")
        if subjects is not None:
            rows = rows.filter(pk__in=subjects)
        for row in rows.values("pk", *self.columns, *self.forgettable.fields).iterator(chunk_size=1000):
            subject = str(row["pk"])
            values = values_of(self.own_fields, (written or {}).get(subject, {}))
            sets = {field.name: self._members(field, row["pk"]) for field in self.sets}
            yield subject, {**self._state({**row, **values}), **sets}

    def state_in_memory(self, row: models.Model) -> StoredState:
        """What a new row is, whether it arrived in the table or not. Its sets have nothing yet."""
        values = values_of(self.own_fields, vars(row))
        of_database = [field.attname for field in self.own_fields if field.attname not in values]
        stored = (
            self.model._base_manager.filter(pk=row.pk).values(*of_database).first() if of_database else None
        )
        absent = dict.fromkeys(of_database)
        sets: StoredState = {field.name: [] for field in self.sets}
        return {**self._state({**absent, **(stored or {}), **values, "pk": row.pk}), **sets}

    def _state(self, row: Mapping[str, Any]) -> StoredState:
        return {**{name: row[name] for name in self.columns}, **self.forgettable.parts(row)}

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
        written: Mapping[str, WrittenValues] | None = None,
    ) -> None:
        """names: of the fields that were written; None for all. written: by subject their values, as in `states`."""
        parts = None if names is None else self.parts_of(names)
        subjects = [str(key) for key in keys]
        imprints.note(self.kind, subjects, parts, lambda some: self.states(some, written))

    def note_new(self, row: models.Model) -> None:
        """Of rows that are not noted from the beginning, if it is one of those that are noted by now."""
        if self.rows == EVERY:
            imprints.note_state(self.kind, str(row.pk), self.state_in_memory(row))
        else:
            self.note([row.pk], None, {str(row.pk): vars(row)})

    def note_gone(self, key: object) -> None:
        """Of a row that was deleted, whether it went or not."""
        imprints.note_state(self.kind, str(key), {})

    def note_members(self, key: object, name: str, members: Collection[str] | None) -> None:
        """members: what a set has by now; None if it was not what its line says before: nothing makes that true."""
        if members is not None:
            state = {**(self.state_of(key) or {}), name: sorted(members)}
            imprints.note_state(self.kind, str(key), state, {name})

    def members_written(self, field: models.ManyToManyField[Any, Any], key: object) -> set[str] | None:
        """The keys of what a row is bound to by a set; None unless they are what its newest line says."""
        members = self._members(field, key)
        is_known = imprints.says(self.kind, str(key), {field.name: members})
        return {*members} if is_known or not imprints.newest_of(self.kind, [str(key)]) else None

    def state_of(self, key: object) -> StoredState | None:
        """What a row is; None where there is none, or none that is noted."""
        return dict(self.states([str(key)])).get(str(key))

    def note_changes(self, row: models.Model, before: StoredState | None) -> None:
        """Of a row that was saved with all its fields what they changed. before: `state_of` it then."""
        subject = str(row.pk)
        now = dict(self.states([subject], {subject: vars(row)})).get(subject, {})
        if now != (before or {}):
            changed = {part for part, value in now.items() if before and value != before.get(part)}
            imprints.note_state(self.kind, subject, now, changed if before else None)

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
        watch.note_new(instance)
    elif update_fields is None:
        watch.note_changes(instance, before)
    elif watch.names & update_fields:
        values = {
            name: value for name, value in vars(instance).items() if name in watch.parts_of(update_fields)
        }
        watch.note([instance.pk], update_fields, {str(instance.pk): values})


def _deleted(sender: type[models.Model], instance: models.Model, **_: object) -> None:
    _watches[sender].note_gone(instance.pk)


def written(rows: models.QuerySet[M], key: object) -> M:
    """A row, once it is in memory what the portal wrote: whoever draws or signs by it reads it no second time.

    Raises ForgedRowError, and DoesNotExist. It is read again where the portal was just writing it.
    """

    def read() -> M:
        row = rows.get(pk=key)
        require_written(row)
        return row

    return read_again(read)


def is_written(row: models.Model, *names: str) -> bool:
    """Whether a row is what the portal wrote, or with names these fields of it; for whoever reads them afterwards.

    They are read again where they are not: the portal may just be writing them. False of a row that is gone. True where
    the master key is missing: nothing can be told then, nor opened, spent or signed.
    """
    for _attempt in range(READ_AT_MOST):
        try:
            if _watches[type(row)].is_written(row, names):
                return True
        except KeyMissingFault:
            return True
        time.sleep(PAUSE_SECONDS)
        with suppress(type(row).DoesNotExist):  # type: ignore[attr-defined]
            row.refresh_from_db(fields=[*(names or _watches[type(row)].columns)])
    return False


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
    newest = imprints.newest_lines(watch.kind)
    unread = {name: line for name, line in newest.items() if name not in own}
    missing = sorted(imprints.subjects_with(watch.kind, unread, column, values))
    changed = imprints.unstated(watch.kind, {name: watch.values_of(row) for name, row in own.items()}, newest)
    if other := next(iter([*missing, *changed]), ""):
        raise ForgedRowError(f"{model._meta.model_name} {other}")


def require_every(model: type[models.Model], *names: str) -> None:
    """The same of these fields of all rows of a model, of which none may be missing."""
    watch = _watches[model]
    rows = {str(row.pk): row for row in model._base_manager.filter(watch.rows)}
    newest = imprints.newest_lines(watch.kind)
    missing = (name for name, line in newest.items() if line.digests and name not in rows)
    states = {name: watch.values_of(row, names) for name, row in rows.items()}
    if other := next(iter([*missing, *imprints.unstated(watch.kind, states, newest)]), ""):
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


def noted_values(row: models.Model) -> dict[str, object]:
    """By column, as they are in memory. Who writes all of them has a first line say nothing of what the row had."""
    return {field.attname: getattr(row, field.attname) for field in _watches[type(row)].own_fields}


@contextmanager
def joining(
    field: models.ManyToManyField[Any, Any], row: models.Model, others: Collection[models.Model]
) -> Iterator[None]:
    """Note of a row and others of its model that a set binds them to each other, as is done inside.

    Django says nothing of a set's other end.
    """
    watch = _watches[field.model]
    joined = {row.pk: {str(other.pk) for other in others}, **{other.pk: {str(row.pk)} for other in others}}
    before = {key: watch.members_written(field, key) for key in joined}
    yield
    for key, new in joined.items():
        known = before[key]
        watch.note_members(key, field.name, None if known is None else known | new)


def note_read(model: type[models.Model], keys: Collection[object]) -> None:
    """Note what was read from records, whose key was made or destroyed."""
    _watches[model].note(keys, _watches[model].forgettable.fields)


def _set_changed(
    sender: type[models.Model],
    instance: models.Model,
    action: str,
    pk_set: Collection[object] | None = None,
    **_: object,
) -> None:
    """Raises TypeError for `clear`, which does not say what goes."""
    if action == "pre_clear":
        raise TypeError("Remove what a set has by name: `clear` does not say what goes.")
    watch, changed = _watches[type(instance)], {*map(str, pk_set or ())}
    for field in (field for field in watch.sets if field.remote_field.through is sender):
        place = f"{MEMBERS} {field.name}"
        if action in ("pre_add", "pre_remove"):
            vars(instance)[place] = watch.members_written(field, instance.pk)
        elif (before := vars(instance).pop(place)) is None:
            continue
        else:
            after = before | changed if action == "post_add" else before - changed
            watch.note_members(instance.pk, field.name, after)


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
                is_first = len(watch.parts_of(values)) == len(watch.kind.parts)
                watch.note(keys, None if is_first else values, {str(key): values for key in keys})
        return changed

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Any, *arguments: Any, **options: Any) -> list[M]:
        with transaction.atomic(using=self.db):
            rows = super().bulk_create(objs, *arguments, **options)
            if watch := _watches.get(self.model):
                for row in rows:
                    watch.note_new(row)
        return rows


class WatchedManager(models.Manager[M]):
    """The manager of a model that has no queryset of its own."""

    def get_queryset(self) -> WatchedQuerySet[M]:
        return WatchedQuerySet(self.model, using=self._db)
