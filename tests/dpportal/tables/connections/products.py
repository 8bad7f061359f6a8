"""What is released of a table that lies elsewhere, in whatever engine: each engine's tests run these."""

from __future__ import annotations

import numpy as np
import pytest
from django.urls import reverse

from dpportal.datasets import records, services
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, runner_of
from dpportal.releases.row_retention import rows_counted
from dpportal.tables.connections.models import SharedTable
from mechanisms.domain import Boolean
from mechanisms.summary.truth import true_summary
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.queries import building as queries
from tests.dpportal.tables.connections.conftest import connected

COLOURS, TENS = [100, 100, 100, 0], [30] * 10


def counted(release: Release) -> list[int]:
    return records.stored_counts(release.true_counts).tolist()


def summary_counts_what_an_upload_does(elsewhere: Dataset) -> None:
    """The same integers as of an upload: what is measured of ages 0 to 99 of each of three colours."""
    chosen = {"group": "colour", "twice": []}
    release = finished(elsewhere, "summary", ["colour", "age"], "0.5", "column-tables", **chosen)
    plan = confirmed_plan(release)
    upload = building.stored_dataset(elsewhere.owner, "The same, uploaded")
    there = Release(dataset=upload, domain_version=upload.current_domain())
    assert counted(release) == runner_of(release).count(there, plan, b"any").compared.tolist()
    true = true_summary(plan, records.stored_counts(release.true_counts))
    assert true.number.estimate.tolist() == pytest.approx([100, 100, 100, 0, 300])
    ages = true.columns[0]
    assert ages.mean.estimate[:3].tolist() == pytest.approx([49.5] * 3)
    assert ages.deviation.estimate[0] == pytest.approx(np.arange(100).std())


class Products:
    """Every product that needs counts alone, whoever its neighbours are."""

    @pytest.fixture(params=["add-remove", "replace-one"])
    def either(self, request, elsewhere):
        services.declare_unit(elsewhere, neighbours=request.param, unit_column="", max_rows=1)
        return elsewhere

    def test_a_histogram(self, either):
        release = finished(either, "histogram", ["age"], "0.5", "laplace-histogram", within_bins="smooth")
        assert counted(release) == TENS

    def test_answers_to_queries_of_tables_that_overlap(self, either):
        """Two tables, neither within the other, in one query of the database."""
        text = 'identity("age") + identity("colour")'
        release = queries.finished(
            queries.draft_of(either, text, ["colour", "age"], "0.5", "weighted-marginals")
        )
        assert sorted(counted(release)) == sorted(COLOURS + TENS)

    def test_a_private_choice(self, either):
        chosen = {"question": "most-common-value", "picks": 1}
        release = finished(either, "selection", ["colour"], "0.5", "permute-and-flip", **chosen)
        assert counted(release) == COLOURS

    def test_totals_and_means(self, either):
        """Ages 0 to 99 of each of three colours, counted in ones: their number, sum and square sum, and both bounds."""
        chosen = {"measured": ["age"], "deviation": True, "steps": {}}
        release = finished(either, "means", ["colour", "age"], "0.5", "bernstein-sums", **chosen)
        ages, unit = np.arange(100), 99**2
        sums = [
            ((99 - ages) ** 2).sum(),
            (2 * ages * (99 - ages)).sum(),
            (ages**2).sum(),
            0,
            unit // 64,
            unit // 64,
        ]
        assert counted(release) == [[sums, sums, sums, [0] * 6]]

    def test_a_summary_by_groups(self, either):
        summary_counts_what_an_upload_does(either)

    @pytest.mark.parametrize("method", ["latent-classes", "tree-of-pairs"])
    def test_a_synthetic_table_of_counted_pairs(self, elsewhere, client, curator, method):
        """What takes real rows is left out of the comparison, which says so."""
        release = finished(elsewhere, "microdata", ["colour", "age"], "0.9", method, wishes={}, rows=None)
        comparison = records.comparison(release.dataset_id, release.pk)
        assert comparison is not None
        assert rows_counted(comparison) == 300
        client.force_login(curator)
        for page in ("compare", "compare_report"):
            answer = client.get(reverse(f"releases:{page}", args=[release.pk]))
            assert "since the table lies elsewhere" in answer.content.decode()

    def test_randomised_answers(self, elsewhere):
        services.declare_unit(elsewhere, neighbours="replace-one", unit_column="", max_rows=1)
        assert counted(finished(elsewhere, "response", ["colour"], "0.5", "randomised-response")) == COLOURS

    def test_the_best_option_and_every_option_counts_the_same_rows(self, connection, curator, administrator):
        """Of ten rows of each patient three count; a row is of one option, so both options together have them all."""
        query = (
            "SELECT patient, (age % 2 = 0) IS TRUE AS even, (age % 2 = 1) IS TRUE AS odd FROM health.visits"
        )
        table = SharedTable.objects.create(connection=connection, title="Options", query=query)
        dataset = building.granted(connected(table, curator, declared=False), administrator)
        services.declare_all(dataset, [Boolean("even"), Boolean("odd")])
        services.declare_unit(dataset, neighbours="add-remove", unit_column="patient", max_rows=3)
        options = {"question": "best-option", "picks": 1}
        release = finished(dataset, "selection", ["even", "odd"], "0.5", "permute-and-flip", **options)
        assert sum(counted(release)) == 90
