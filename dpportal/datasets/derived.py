"""What the portal read from a dataset's records beside their files, and forgets with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from dpportal.datasets import gone_columns
from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.models import AttributeDeclaration, Conversion, Dataset, Fit
from dpportal.jobs.claims import ACTIVE
from dpportal.platform.json_types import Json
from dpportal.tables import Column
from dpportal.tables.meaning.identifiers import named_like_identifier

# Of a column: its name is in what was declared and published, its type is that of a table elsewhere.
DECLARED = ("name", "type")


def column_fields(columns: Iterable[Column]) -> Json:
    """What a dataset keeps of its columns: names, and, sealed, what their rows look like."""
    seen = [column.to_json() for column in columns]
    looks = [{key: value for key, value in column.items() if key not in DECLARED} for column in seen]
    return {"columns": [{"name": column["name"]} for column in seen], "column_looks": looks}


def described_columns(dataset: Dataset) -> list[Json]:
    """Each column's name, whether it seems to identify people, and where that is known its kind and a remark."""
    return [_described(look, column) for look, column in _looks(dataset)]


def look_of(dataset: Dataset, name: str) -> Json:
    """The same of one column."""
    return next(_described(look, column) for look, column in _looks(dataset) if column["name"] == name)


def _looks(dataset: Dataset) -> Iterator[tuple[Json, Json]]:
    """Of each column what its first rows look like, beside what the table says of it."""
    looks = dataset.column_looks or [{}] * len(dataset.columns)
    return zip(looks, dataset.columns, strict=True)


def _described(look: Json, column: Json) -> Json:
    return {"identifies": named_like_identifier(column["name"]), **look, **column}


def truths_of(column: Json) -> tuple[str, ...]:
    """How a described column's first rows write no and yes; nothing where they hold other texts, or none is known."""
    return tuple(column.get("truths", ()))


def written_truths(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """The same by each column's name."""
    return {column["name"]: truths_of(column) for column in described_columns(dataset)}


def forget(dataset: Dataset) -> None:
    """Delete the number of rows, why a file was refused, remarks on columns and file, how the rows fitted,
    declarations that were filled from them and that nothing was released with, and names of columns that nothing
    declares; for one transaction.

    What was declared and published stays, with the names in it. So do the fingerprint and the sealed sample of
    `near_duplicates`: without them the same people would get a second budget.
    """
    unused = AttributeDeclaration.objects.filter(
        domain_version__dataset=dataset, domain_version__frozen=False
    )
    unused.filter(filled_from_data=True).delete()
    # A look that is in work ends by itself.
    Fit.objects.filter(dataset=dataset).exclude(state__in=ACTIVE).delete()
    BegunUpload.objects.filter(pk=dataset.pk).delete()
    Conversion.objects.filter(dataset=dataset).update(step="", progress=0, progress_total=0, failure="")
    # What is known of a table elsewhere is its definition, no row of it.
    facts = dataset.facts if dataset.is_remote else {k: v for k, v in dataset.facts.items() if k == "format"}
    remaining = {"facts": facts, "columns": _columns_after(dataset)}
    gone_columns.forget(dataset, [column["name"] for column in remaining["columns"]])
    Dataset.objects.filter(pk=dataset.pk).update(**remaining, rows=None, megabytes=0, column_looks=[])


def _columns_after(dataset: Dataset) -> list[Json]:
    """A dataset's columns without its records: those that nothing declares are called after their place."""
    columns = [{name: column[name] for name in DECLARED if name in column} for column in dataset.columns]
    if dataset.is_remote:
        return columns
    declared = gone_columns.declared_names(dataset)
    return [
        column if column["name"] in declared else {**column, "name": _of_place(place, declared)}
        for place, column in enumerate(columns, 1)
    ]


def _of_place(place: int, taken: Collection[str]) -> str:
    """What a column without a name is called, in files that have none, too."""
    name = f"column_{place}"
    while name in taken:
        name += "_"
    return name


def sweep() -> None:
    """Forget what an earlier version kept when it erased records."""
    for dataset in Dataset.objects.filter(state=Dataset.State.ERASED, rows__isnull=False):
        forget(dataset)
