"""A method chosen privately, from the wizard's draft to every page: which one it was, and what it cost."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest
from django.urls import reverse

from dpportal.budgets.models import LedgerEntry
from dpportal.releases import results
from dpportal.releases.models import Release
from mechanisms import registry
from tests.dpportal.releases.products.building import files, finished


@pytest.fixture
def release(dataset) -> Release:
    return finished(
        dataset, "histogram", ["age"], "0.5", "chosen-histogram", purpose="totals", statistic_share=10
    )


@pytest.mark.slow
def test_everyone_reads_which_method_it_was(client, release) -> None:
    packed = files(release)
    about = json.loads(next(value for name, value in packed.items() if name.endswith("release.json")))
    assert about["chosen_method"] in {m.title for m in registry.HISTOGRAMS}
    readme = next(value for name, value in packed.items() if name.lower().endswith("readme.md")).decode()
    assert "`chosen_method`" in readme
    client.force_login(release.created_by)
    text = client.get(reverse("releases:compare", args=[release.pk])).content.decode()
    assert f"The method that the private choice took: {about['chosen_method']}." in text


@pytest.mark.slow
def test_it_costs_what_was_declared_and_no_more(release) -> None:
    entry = LedgerEntry.objects.get(pk=release.charge_id)
    assert entry.amount == Decimal("0.5")
    plan = release.plan_json
    assert plan["parameters"]["statistic_share"] == 10
    assert {c["loss"]["amount"] for c in plan["details"]["candidates"]} == {"9/20"}


@pytest.mark.slow
def test_it_is_made_again_from_the_recorded_measurement(release) -> None:
    first, again = (results.reconstruct(release).result for _ in range(2))
    assert first.method == again.method != ""
    assert np.array_equal(first.raw, again.raw)
    assert np.array_equal(first.counts, again.counts)
