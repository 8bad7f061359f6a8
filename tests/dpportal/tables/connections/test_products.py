"""Every product of a table in PostgreSQL, and what there is of names, values, processes and batches."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from dpportal.datasets import records, services
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError
from dpportal.tables import ReadOptions
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.pushdown.count_query import QuerySource, count_statement
from dpportal.tables.pushdown.dialects import Postgres
from dpportal.tables.pushdown.types import TYPES
from mechanisms.domain import Categorical, Domain, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.tables.connections.conftest import connected
from tests.dpportal.tables.connections.products import Products

pytestmark = pytest.mark.postgres


class TestProducts(Products):
    """From PostgreSQL."""


def test_a_method_that_measures_rows_is_refused(elsewhere):
    draft = Release.objects.create(
        dataset=elsewhere, created_by=elsewhere.owner, product="microdata", columns=["colour", "age"],
        mechanism="principal-components", parameters={"wishes": {}}, amount=Decimal("0.5"), people=300,
    )  # fmt: skip
    with pytest.raises(DraftError, match="only counts come here"):
        drafts.plan_of(draft)


def test_the_database_shares_the_rows_out_among_its_processes(owner, curator, connection):
    """The nested queries stand below the gathering of what each process counted."""
    domain = Domain((Categorical("colour", values=("red",)), Integer("age", lower=0, upper=9)))
    source = QuerySource(Postgres(), "health.visits", {"colour": TYPES["text"], "age": TYPES["int4"]})
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
    table = SharedTable.objects.create(connection=connection, title="Many", query=query, vouched="Drawn")
    dataset = connected(table, curator, declared=False)
    services.declare(dataset, "x", Integer("x", lower=0, upper=200_000))
    version = dataset.current_domain()
    counts = records.count(dataset, version, version.domain(), b"")
    assert np.array_equal(counts, [1] * 200_000 + [0])


def test_mean_income_is_that_of_a_csv_and_of_a_count_by_hand(
    connection, owner, curator, administrator, client
):
    """By sex and education, 100 people in each of six groups: the database and an upload count the same integers."""
    schools = ("school", "college", "university")
    rows = [("fm"[i % 2], schools[i % 3], 100 * (37 * i % 500)) for i in range(600)]
    owner.execute("CREATE TABLE health.incomes (sex text, education text, income int)")
    with owner.cursor() as cursor:
        cursor.executemany("INSERT INTO health.incomes VALUES (%s, %s, %s)", rows)
    table = SharedTable.objects.create(
        connection=connection, title="Incomes", schema="health", table="incomes"
    )
    client.force_login(curator)
    csv = "\n".join(["sex,education,income", *(",".join(map(str, row)) for row in rows)])
    counted = []
    for dataset in (connected(table, curator, declared=False), building.uploaded(client, csv.encode())):
        building.granted(dataset, administrator)
        sex, education = Categorical("sex", values=("f", "m")), Categorical("education", values=schools)
        services.declare_all(dataset, [sex, education, Integer("income", lower=0, upper=50_000)])
        services.declare_unit(dataset, neighbours="add-remove", unit_column="", max_rows=1)
        chosen = {"measured": ["income"], "deviation": True, "steps": {}}
        columns = ["sex", "education", "income"]
        release = finished(dataset, "means", columns, "0.5", "bernstein-sums", people=600, **chosen)
        counted.append(records.stored_counts(release.true_counts).tolist())
        compared = records.comparison(dataset.pk, release.pk)
        assert compared is not None
        lines = [dict(zip(compared["header"], line, strict=True)) for line in compared["table"]]
        true = {(line["sex"], line["education"]): line["mean_true"] for line in lines}
        for group in {row[:2] for row in rows}:
            by_hand = np.mean([income for *own, income in rows if tuple(own) == group])
            assert true[group] == pytest.approx(by_hand)
    assert counted[0] == counted[1]
