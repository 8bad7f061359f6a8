"""Another engine draws a person's rows anew in each query: all of a summary is made of one of them."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.releases.products.summary.runner import SummaryRunner
from dpportal.tables.connections.models import SharedTable
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.summary.column_estimates import NumberEstimates
from mechanisms.summary.counts import split_values
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.truth import true_summary
from tests.dpportal.tables.connections.conftest import connected

pytestmark = pytest.mark.postgres
# As often, one of two rows is drawn by all queries alike once in 2^-DRAWS.
DRAWS = 12
ONE_PATIENT = """
    CREATE TABLE health.one AS
    SELECT 'p' AS patient, CASE WHEN i % 2 = 0 THEN 99 END AS age FROM generate_series(1, 40) i
"""


@pytest.fixture
def patient(connection, curator, owner) -> Dataset:
    """One person with many rows, half of them without an age; one of them counts."""
    owner.execute(ONE_PATIENT)
    table = SharedTable.objects.create(connection=connection, title="One", schema="health", table="one")
    dataset = connected(table, curator, declared=False)
    services.declare_all(dataset, [Integer("age", True, lower=0, upper=99, width=10)])
    services.declare_unit(dataset, neighbours="add-remove", unit_column="patient", max_rows=1)
    return Dataset.objects.get(pk=dataset.pk)


@pytest.mark.parametrize("definition", Definition)
def test_one_person_moves_no_table_by_more_than_its_noise_is_for(patient, definition):
    version = patient.current_domain()
    assert version is not None
    loss = Loss(definition, Fraction(1), version.unit)
    columns = list(version.domain().attributes)
    plan = ColumnTables().plan(Domain(()), columns, (), loss, 10)
    release: Any = SimpleNamespace(dataset=patient, declaration=version)
    for _ in range(DRAWS):
        values = SummaryRunner().count(release, plan, b"").measured
        for table, moved in zip(plan.tables, split_values(plan, values), strict=True):
            # Without this person every sum is 0.
            norms = (int(np.abs(moved).sum()), sum(int(one) ** 2 for one in np.ravel(moved)))
            assert norms[0] <= table.sensitivity.l1 and norms[1] <= table.sensitivity.l2_squared, table.name


TWO_ROWS_EACH = """
    CREATE TABLE health.each AS
    SELECT (i / 2)::text AS patient, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS ward, 10 + 40 * (i % 2) AS age
    FROM generate_series(0, 799) i
"""


def test_means_of_groups_are_those_of_the_rows_that_were_counted(connection, curator, owner):
    """Who is counted in ward a is 10 years old, in b 50: of two draws the mean was some hundredths beside that."""
    owner.execute(TWO_ROWS_EACH)
    table = SharedTable.objects.create(connection=connection, title="Each", schema="health", table="each")
    dataset = connected(table, curator, declared=False)
    ward, age = Categorical("ward", values=("a", "b")), Integer("age", True, lower=0, upper=99, width=10)
    services.declare_all(dataset, [ward, age])
    services.declare_unit(dataset, neighbours="add-remove", unit_column="patient", max_rows=1)
    dataset = Dataset.objects.get(pk=dataset.pk)
    version = dataset.current_domain()
    assert version is not None
    plan = ColumnTables().plan(
        Domain((ward,)), [age], (), Loss(Definition.PURE, Fraction(1), version.unit), 400
    )
    release: Any = SimpleNamespace(dataset=dataset, declaration=version)
    true = true_summary(plan, SummaryRunner().count(release, plan, b"").measured)
    [column] = true.columns
    assert isinstance(column, NumberEstimates)
    assert true.number.estimate[-1] == 400 and 0 < true.number.estimate[0] < 400
    assert column.mean.estimate[:2] == pytest.approx([10, 50], abs=1e-9)
