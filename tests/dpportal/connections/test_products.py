"""Every product that needs counts alone can be made of a table that lies elsewhere, whoever its neighbours are."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from django.urls import reverse

from dpportal.connections.models import SharedTable
from dpportal.datasets import services
from dpportal.datasets.rawdata import ReadOptions, records
from dpportal.datasets.rawdata.elsewhere.dialects import Postgres
from dpportal.datasets.rawdata.elsewhere.statement import Source, count_statement
from dpportal.datasets.rawdata.elsewhere.types import TYPES
from dpportal.releases import drafts
from dpportal.releases.keeping import rows_counted
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from tests.dpportal import building
from tests.dpportal.connections.conftest import connected
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.queries import building as queries

pytestmark = pytest.mark.postgres
COLOURS, TENS = [100, 100, 100, 0], [30] * 10


def counted(release: Release) -> list[int]:
    return records.kept_counts(release.true_counts).tolist()


@pytest.fixture(params=["add-remove", "replace-one"])
def either(request, elsewhere):
    services.declare_unit(elsewhere, neighbours=request.param, unit_column="", max_rows=1)
    return elsewhere


def test_a_histogram(either):
    release = finished(either, "histogram", ["age"], "0.5", "laplace-histogram", within_bins="uniform")
    assert counted(release) == TENS


def test_answers_to_queries_of_tables_that_overlap(either):
    """Two tables, neither within the other, in one query of the database."""
    text = 'identity("age") + identity("colour")'
    release = queries.finished(queries.draft_of(either, text, ["colour", "age"], "0.5", "weighted-marginals"))
    assert sorted(counted(release)) == sorted(COLOURS + TENS)


def test_a_private_choice(either):
    chosen = {"question": "most-common-value", "picks": 1}
    assert counted(finished(either, "selection", ["colour"], "0.5", "permute-and-flip", **chosen)) == COLOURS


@pytest.mark.parametrize("method", ["latent-classes", "tree-of-pairs"])
def test_a_synthetic_table_of_counted_pairs(elsewhere, client, curator, method):
    """What takes real rows is left out of the comparison, which says so."""
    release = finished(elsewhere, "microdata", ["colour", "age"], "0.9", method, wishes={}, rows=None)
    comparison = records.comparison(release.dataset_id, release.pk)
    assert comparison is not None
    assert rows_counted(release, comparison) == 300
    client.force_login(curator)
    for page in ("compare", "compare_report"):
        answer = client.get(reverse(f"releases:{page}", args=[release.pk]))
        assert "since the table lies elsewhere" in answer.content.decode()


def test_a_method_that_measures_rows_is_refused(elsewhere):
    draft = Release.objects.create(
        dataset=elsewhere, created_by=elsewhere.owner, product="microdata", columns=["colour", "age"],
        mechanism="principal-components", parameters={"wishes": {}}, amount=Decimal("0.5"), people=300,
    )  # fmt: skip
    with pytest.raises(DraftError, match="only counts come here"):
        drafts.plan_of(draft)


def test_randomised_answers(elsewhere):
    services.declare_unit(elsewhere, neighbours="replace-one", unit_column="", max_rows=1)
    assert counted(finished(elsewhere, "response", ["colour"], "0.5", "randomised-response")) == COLOURS


def test_the_best_option_and_every_option_counts_the_same_rows(connection, curator, administrator):
    """Of ten rows of each patient three count; a row is of one option, so both options together have them all."""
    query = "SELECT patient, age % 2 = 0 AS even, age % 2 = 1 AS odd FROM health.visits"
    table = SharedTable.objects.create(connection=connection, title="Options", query=query)
    dataset = building.granted(connected(table, curator, declared=False), administrator)
    services.declare_all(dataset, [Boolean("even"), Boolean("odd")])
    services.declare_unit(dataset, neighbours="add-remove", unit_column="patient", max_rows=3)
    release = finished(
        dataset, "selection", ["even", "odd"], "0.5", "permute-and-flip", question="best-option", picks=1
    )
    assert sum(counted(release)) == 90


def test_the_database_shares_the_rows_out_among_its_processes(owner, curator, connection):
    """The nested queries stand below the gathering of what each process counted."""
    domain = Domain((Categorical("colour", values=("red",)), Integer("age", lower=0, upper=9)))
    source = Source(Postgres(), "health.visits", {"colour": TYPES["text"], "age": TYPES["int4"]})
    statement = count_statement(source, domain, [domain.names], ReadOptions().settled(), None)
    for name in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
        owner.execute(f"SET {name} = 0")
    plan = "\n".join(line for (line,) in owner.execute(f"EXPLAIN {statement}"))
    assert 0 < plan.index("Gather") < plan.index("Subquery Scan") < plan.index("Parallel Seq Scan")


def test_names_and_values_are_only_names_and_values(connection, owner, curator):
    """Quotation marks, comments and percent signs of any place end no text and begin no statement."""
    strange = """we"ird'; DROP TABLE health.visits; -- %s {} \\ $1"""
    quoted = strange.replace('"', '""')
    owner.execute(f'CREATE TABLE health."{quoted}" ("{quoted}" text)')
    with owner.cursor() as cursor:
        cursor.executemany(
            f'INSERT INTO health."{quoted}" VALUES (%s)'.replace("-- %s", "-- %%s"), [[strange], ["b"]]
        )
    table = SharedTable.objects.create(connection=connection, title="Strange", schema="health", table=strange)
    dataset = connected(table, curator, declared=False)
    assert dataset.has_records, dataset.conversion.failure
    services.declare(dataset, strange, Categorical(strange, values=(strange, "'")))
    version = dataset.current_domain()
    assert records.count(dataset, version, version.domain(), b"").tolist() == [1, 0, 1]


def test_many_cells_come_in_batches(connection, curator):
    """200,000 cells with one row each and one with none, more than one batch holds."""
    query = "SELECT i AS x FROM generate_series(0, 199999) AS i"
    table = SharedTable.objects.create(connection=connection, title="Many", query=query)
    dataset = connected(table, curator, declared=False)
    services.declare(dataset, "x", Integer("x", lower=0, upper=200_000))
    version = dataset.current_domain()
    counts = records.count(dataset, version, version.domain(), b"")
    assert np.array_equal(counts, [1] * 200_000 + [0])
