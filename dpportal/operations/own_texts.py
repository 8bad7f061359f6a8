"""The fields in which people write: pages show them as they were written, whatever happens to the portal's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from django.apps import apps
from django.db.models import Model

from dpportal.serving import own_texts

# The fields in which people write, by model; in those of JSON every text may be theirs.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "accounts.User": ("username", "display_name", "first_name", "last_name"),
    "accounts.Passkey": ("name",),
    "api.ApiToken": ("name",),
    "approvals.Approval": ("summary", "answer"),
    "budgets.Budget": ("unit_column",),
    "budgets.LedgerEntry": ("reason",),
    "budgets.BudgetRequest": ("reason", "title", "answer"),
    "connections.Connection": ("name",),
    "connections.SharedTable": ("title", "schema", "table", "query", "vouched"),
    "datasets.Dataset": ("name", "description", "file_name", "columns", "one_row_columns", "filled_columns"),
    "datasets.DirectUpload": ("name", "description", "file_name"),
    "datasets.BegunUpload": ("name", "description", "file_name"),
    "datasets.DomainVersion": ("unit_column",),
    "datasets.AttributeDeclaration": ("column", "declaration"),
    "datasets.PublicDescription": ("text", "keywords", "place", "publisher", "contact"),
    "datasets.AreaMap": ("column", "credit"),
    "releases.Release": ("title", "columns", "withdrawn_because"),
    "streams.Stream": ("name", "description", "column", "summed", "labels", "withdrawn_because"),
    "streams.StreamJob": ("file_name",),
    "value_choices.ValueChoice": ("column", "kept"),
}


def watch_all() -> None:
    """Have all of them noted when they are read. Some rooms' models are there only once all rooms are ready."""
    for label, names in FIELDS.items():
        room, model = label.lower().split(".")
        apps.lazy_model_operation(partial(_watch, names), (room, model))


def _watch(names: Sequence[str], model: type[Model]) -> None:
    own_texts.watch(model, *names)
