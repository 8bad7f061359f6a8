"""The catalogue as it is now. A process reads it anew only where something that shows in it has changed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast, JSONObject
from django.utils.translation import get_language

from dpportal.accounts.models import User
from dpportal.catalogue.entries import ABOUT_FIELDS, Catalogue, read_catalogue
from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.publications.draft import PUBLIC
from dpportal.releases.models import Release
from dpportal.streams.models import Stream

_PUBLICATION = ("pk", "published_at", "dataset_id", "created_by_id")
_ABOUT = (*ABOUT_FIELDS, "contact", "licence")
# What was read last in each language, with its version.
_latest: dict[str | None, tuple[str, Catalogue]] = {}


def current() -> Catalogue:
    """What is published at this moment: what is withdrawn, hidden or renamed is so at once, in every process."""
    language, before = get_language(), _version()
    version, catalogue = _latest.get(language, ("", None))
    if catalogue is None or version != before:
        catalogue = read_catalogue()
        # Where it changed while it was read, it belongs to neither version.
        if _version() == before:
            _latest[language] = before, catalogue
    return catalogue


def _version() -> str:
    """A digest of all that shows, as the database itself writes it: thousands of rows become no objects."""
    digest = sha256()
    for rows in _sources():
        digest.update("\n".join(rows).encode())
    return digest.hexdigest()


def _sources() -> Iterator[QuerySet[Any]]:
    public = [model._default_manager.filter(PUBLIC).order_by() for model in (Release, Stream)]
    of_one = Q(pk__in=public[0].values("dataset")) | Q(pk__in=public[1].values("dataset"))
    datasets = Dataset.objects.filter(of_one)
    yield _as_text(public[0], *_PUBLICATION, "product", "title", "columns")
    yield _as_text(public[1], *_PUBLICATION, "name", "description", "column", "labels")
    yield _as_text(datasets, "pk", "name")
    yield _as_text(PublicDescription.objects.filter(shown=True, dataset__in=datasets), "pk", *_ABOUT)
    yield _as_text(User.objects.all(), "pk", "display_name")


def _as_text(rows: QuerySet[Model], *fields: str) -> QuerySet[Any]:
    """Each row as one text of its fields, in the order of their ids."""
    text = Cast(JSONObject(**{name: name for name in fields}), TextField())
    return rows.order_by("pk").values_list(text, flat=True)
