"""Which other datasets hold the same table, or nearly: for administrators, whose grants must not spend on people twice.

No curator ever learns of it, since whoever uploads guesses would learn what is in a table of somebody else.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection
from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext as _, gettext_noop, ngettext

from dpportal.accounts.audit_words import clause, clauses
from dpportal.datasets.models import Dataset
from dpportal.history import watched
from dpportal.history.imprints import ForgedRowError
from dpportal.history.watched import WatchedManager
from dpportal.platform.keyed import keyed_digest
from dpportal.platform.sealed import SealedField
from dpportal.tables.similarity.sketch import Likeness, Sketch, likeness


class TableSketch(models.Model):
    """A keyed sample of a dataset's table, in Base64. It outlives the records, as the fingerprint does.

    Sealed, since it says how often rows occur.
    """

    dataset = models.OneToOneField(
        Dataset, primary_key=True, on_delete=models.CASCADE, related_name="sketch", editable=False
    )
    content = SealedField()

    objects = WatchedManager()

    def __str__(self) -> str:
        return f"Sketch of {self.dataset_id}"


@dataclass(frozen=True)
class SimilarDataset:
    """Another dataset with a table like that of one.

    same: of the same content, or the same table elsewhere. shared: of tables that lie elsewhere, whether both are read
    from a table of one database. alike: by sketches, if both have.
    """

    dataset: Dataset
    same: bool
    alike: Likeness | None = None
    shared: bool = False

    def __str__(self) -> str:
        """What an administrator is told, without the names of datasets."""
        if self.same:
            return _("the same content")
        if self.shared:
            return _("a table of the same database that it is read from")
        assert self.alike is not None
        if self.alike.rows >= 0.99:
            return _("99 % or more of its rows")
        if self.alike.rows >= 0.5:
            return _("about %(percent)s %% of its rows") % {"percent": round(100 * self.alike.rows)}
        return ngettext(
            "%(of)s of its %(all)s column with nearly the same fields",
            "%(of)s of its %(all)s columns with nearly the same fields",
            self.alike.of_columns,
        ) % {"of": self.alike.columns, "all": self.alike.of_columns}


def clauses_of(similar: Collection[SimilarDataset]) -> str:
    """What the audit record says of them."""
    text = gettext_noop("%(likeness)s: dataset %(id)s")
    return clauses(*(clause(text, likeness=each, id=each.dataset.pk) for each in similar))


def sketch_key() -> bytes:
    """The key of all sketches; what is sampled with one key cannot be compared under another."""
    return keyed_digest(b"sketches of tables")


def keep(dataset: Dataset, sketch: bytes) -> None:
    """Remember a dataset's sketch."""
    content = b64encode(sketch).decode()
    if not TableSketch.objects.filter(dataset=dataset).update(content=content):
        TableSketch.objects.create(dataset=dataset, content=content)


def similar_datasets(dataset: Dataset) -> list[SimilarDataset]:
    """The other datasets that hold the same table or nearly, whoever owns them, the likest first."""
    own = TableSketch.objects.filter(dataset=dataset).first()
    return similar_to_table(dataset, dataset.fingerprint, _sketch(own) if own else None, dataset.relations)


def written_similar(dataset: Dataset, refused: type[Exception]) -> list[SimilarDataset]:
    """The same, once all that they are known by is what the portal wrote, and none of it is missing.

    Raises `refused`.
    """
    try:
        watched.require_every(TableSketch, "content")
        watched.require_every(Dataset, "fingerprint", "relations")
    except ForgedRowError as fault:
        raise refused(str(fault)) from None
    return similar_datasets(dataset)


def with_budget(similar: list[SimilarDataset]) -> list[SimilarDataset]:
    """The datasets that something was granted for."""
    granted = Dataset.objects.filter(pk__in=[k.dataset.pk for k in similar], budgets__total__gt=0)
    funded = set(granted.values_list("pk", flat=True))
    return [k for k in similar if k.dataset.pk in funded]


def similar_to_table(
    dataset: Dataset, fingerprint: str, sketch: Sketch | None, relations: Collection[str] = ()
) -> list[SimilarDataset]:
    """The same for a table that the dataset is about to have. relations: see `Dataset`."""
    others = Dataset.objects.exclude(pk=dataset.pk).select_related("owner", "sketch").order_by("created_at")
    similar = []
    for other in others:
        # Each is compared in full, so that nobody can tell from the time what was found.
        theirs = _sketch(other.sketch) if hasattr(other, "sketch") else None
        alike = likeness(sketch, theirs) if sketch and theirs else None
        same = bool(fingerprint) and other.fingerprint == fingerprint
        shared = not set(relations).isdisjoint(other.relations)
        if same or shared or (alike and alike.is_close):
            similar.append(SimilarDataset(other, same, alike, shared))
    return sorted(similar, key=lambda k: (k.same, k.shared, k.alike.rows if k.alike else 0.0), reverse=True)


def _sketch(row: TableSketch) -> Sketch | None:
    """The sketch, None if the portal has not the key of its seal, which is logged."""
    return Sketch.from_bytes(b64decode(row.content)) if isinstance(row.content, str) else None
