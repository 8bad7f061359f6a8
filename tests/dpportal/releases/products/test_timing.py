"""What can be seen of a job without its numbers depends on the released numbers and public declarations alone.

Two neighbouring tables, whose measurements are the same, as if the noise had made up for the difference: the steps that
a job says, the statements that it makes, the files that it leaves and the answers of its pages are the same. How long a
processor works is measured instead: `python -m tests.benchmarks.timing`.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dpportal.datasets import records
from dpportal.datasets.models import Dataset
from dpportal.jobs import readiness
from dpportal.jobs.claims import Claim
from dpportal.platform import storage
from dpportal.releases import execution, services
from dpportal.releases.models import Release
from dpportal.releases.products import runner_of
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished

MEASURED_AT = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
# A row that fits nothing declared, and is long.
AWKWARD = {"colour": ["x" * 5000], "age": ["not a number"]}
PRODUCTS = {
    "histogram": ("histogram", ["colour", "age"], "laplace-histogram", {"within_bins": "smooth"}),
    "means": (
        "means", ["colour", "age"], "bernstein-sums", {"measured": ["age"], "deviation": True, "steps": {}}
    ),
    "summary": ("summary", ["colour", "age"], "column-tables", {"group": "colour", "twice": []}),
    "selection": ("selection", ["colour"], "permute-and-flip", {"question": "most-common-value", "picks": 2}),
    "microdata": ("microdata", ["colour", "age"], "tree-of-pairs", {"wishes": {}, "rows": None}),
}  # fmt: skip


@dataclass
class Seen:
    """Of one job and its pages, without the release's own name. sizes: of every stored file but the zip."""

    statements: list[str]
    steps: list[str]
    files: dict[str, bytes]
    sizes: dict[str, int]
    answers: dict[str, bytes]


@pytest.fixture
def neighbour(rich, other_curator, administrator) -> Dataset:
    """The same table with the awkward row beside, as another dataset of the same name."""
    other = building.granted(building.stored_dataset(other_curator, rich.name), administrator, "100")
    with storage.scratch_folder() as scratch:
        path = scratch / "table.parquet"
        pq.write_table(pa.concat_tables([building.small_table(), pa.table(AWKWARD)]), path)
        other.table = storage.keep_under_random_name(path, records.folder(other.pk))
    other.rows = building.ROWS + 1
    other.save(update_fields=["table", "rows"])
    return other


@pytest.fixture
def same_measurement(monkeypatch):
    """Whatever is counted after the first time gets noise that makes up for it."""
    first: list[object] = []

    def replay(kind: type) -> None:
        measure = kind.measure

        def measured(*given: object) -> object:
            first.append(measure(*given))
            return first[0]

        monkeypatch.setattr(kind, "measure", measured)

    monkeypatch.setattr(execution, "database_now", lambda: MEASURED_AT)
    return replay


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("product", PRODUCTS)
def test_statements_steps_files_and_answers_show_no_row(
    rich, neighbour, product, same_measurement, monkeypatch
):
    kind, columns, mechanism, parameters = PRODUCTS[product]
    same_measurement(type(runner_of(Release(product=kind, mechanism=mechanism))))
    steps: list[str] = []
    monkeypatch.setattr(Claim, "step", lambda _claim, step: steps.append(step))
    monkeypatch.setattr(readiness, "CHECK_EVERY_SECONDS", float("inf"))
    readiness.obstacle()
    seen = []
    for dataset in (rich, neighbour):
        steps.clear()
        with CaptureQueriesContext(connection) as asked:
            release = finished(dataset, kind, columns, "9", mechanism, **parameters)
        seen.append(_seen(release, [query["sql"] for query in asked], list(steps)))
    one, other = seen
    assert one.files and len(one.statements) > 20 and "counting" in one.steps
    assert one.steps == other.steps
    assert one.statements == other.statements
    assert one.sizes == other.sizes
    for name in one.files.keys() | other.files.keys():
        assert one.files[name] == other.files[name], name
    assert one.answers == other.answers


def _seen(release: Release, statements: list[str], steps: list[str]) -> Seen:
    """What is left of the release, once it is published at the same time as the other."""
    own = str(release.pk)
    services.publish(release, release.created_by)
    Release.objects.filter(pk=release.pk).update(published_at=MEASURED_AT)
    # Identifiers and digests are packed into a byte more or less; what is packed is compared by itself.
    stored = release.artifacts.exclude(name__endswith=".zip")
    sizes = {a.name.replace(own, "ID"): default_storage.size(a.stored) for a in stored}
    packed = {name: content for name, content in files(release).items() if name != "signature.json"}
    addresses = {name: reverse(f"releases:{name}", args=[own]) for name in ("public", "explore", "croissant")}
    answers = {name: Client().get(address).content for name, address in addresses.items()}
    return Seen(
        [_shape(each) for each in statements],
        steps,
        {name: _nameless(content, release) for name, content in packed.items()},
        sizes,
        {name: _nameless(content, release) for name, content in answers.items()},
    )


def _shape(statement: str) -> str:
    """A statement without its values, and a savepoint without its number."""
    return re.sub(r"'[^']*'|\b\d[\d.]*\b|\bs\d+_x\d+", "?", statement)


def _nameless(content: bytes, release: Release) -> bytes:
    """Without ids, digests of what has them, and sizes, which are compared by themselves."""
    for own in (str(release.pk), str(release.dataset_id)):
        parts = own.encode().split(b"-")
        content = re.sub(rb"(?i)" + rb"[-_]?".join(parts) + rb"|" + parts[0], b"ID", content)
    # Between a number and its unit stands a blank, or one that breaks no line.
    return re.sub(rb"[0-9a-f]{16,}|[\d.,]+(?: |\xc2\xa0)(?:B|KB|MB|bytes)\b", b"-", content)
