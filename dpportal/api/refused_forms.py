"""What a form refuses, as a program is told of it: the sentences that a page shows beside its fields."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from types import MappingProxyType

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from dpportal.api.field_errors import NO_SUCH_NAME, detail_of
from dpportal.api.problems import RefusedError

AS_THE_FIELDS: Mapping[str, str] = MappingProxyType({})


def require_known(names: Iterable[str], known: Container[str], detail: str | None = None) -> None:
    """Raise RefusedError, 422, for names that nothing reads. detail: of all of them, if that is another sentence."""
    if unknown := {name: [str(NO_SUCH_NAME)] for name in names if name not in known}:
        raise RefusedError(422, detail or str(NO_SUCH_NAME), unknown)


def require_valid(
    form: forms.BaseForm | None, place: str = "", *, sent_as: Mapping[str, str] = AS_THE_FIELDS
) -> None:
    """Raise RefusedError for what is wrong in a form: 422, or 409 where a service refused and nothing was mistaken.

    form: None where it was valid and done. place: before the names of its fields, such as "unit.". sent_as: how a
    program calls a field that has another name in the form.
    """
    if form is None or form.is_valid():
        return
    names = {name: sent_as.get(name, name) for name in form.errors}
    errors = {f"{place}{names[name]}": [str(text) for text in texts] for name, texts in form.errors.items()}
    detail = detail_of(errors)
    if set(form.errors) == {NON_FIELD_ERRORS}:
        raise RefusedError(409, detail)
    raise RefusedError(422, detail, errors)
