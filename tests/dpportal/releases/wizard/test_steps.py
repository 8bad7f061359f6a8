"""The wizard's steps: each saves, leads on, and says what is still missing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.releases.models import Release
from dpportal.releases.products import PRODUCTS
from mechanisms import registry
from mechanisms.accounting import Definition
from tests.dpportal import building


@pytest.fixture
def desk(client, curator) -> Client:
    client.force_login(curator)
    return client


def address(draft: Release, step: str) -> str:
    return reverse(f"releases:{step}", args=[draft.pk])


def test_a_new_release_is_saved_from_the_first_step(desk, dataset):
    answer = desk.post(reverse("releases:start", args=[dataset.pk]))
    assert answer.url == address(Release.objects.get(), "product")


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_columns_of_a_fresh_draft_of_each_product_are_asked_for(desk, dataset, product):
    # Randomised answers are for this protection alone.
    dataset_services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    begun = desk.post(reverse("releases:start", args=[dataset.pk]))
    answer = desk.post(begun.url, {"product": product, "title": "Fresh"}, follow=True)
    draft = Release.objects.get()
    assert (draft.product, answer.status_code) == (product, 200)
    assert desk.get(address(draft, "columns")).status_code == 200


def test_chosen_columns_are_saved(desk, draft):
    answer = desk.post(address(draft, "columns"), {"columns": ["age"], "people": "250"})
    draft.refresh_from_db()
    assert (draft.columns, draft.people) == (["age"], 250)
    assert answer.url == address(draft, "method")


@pytest.mark.slow
def test_each_step_has_a_title_of_its_own(desk, draft):
    pages = (desk.get(address(draft, step)).text for step in ("product", "columns", "method", "review"))
    titles = [page.partition("<title>")[2].partition(" ·")[0] for page in pages]
    assert titles == ["Product", "Columns and cells", "Method and accuracy", "Review"]


def test_a_chosen_method_and_its_cost_are_saved(desk, draft):
    options = {"parameter-within_bins": "smooth"}
    fields = {"mechanism": "laplace-histogram", "amount": "0.25", "purpose": "cells", **options}
    answer = desk.post(address(draft, "method"), fields)
    draft.refresh_from_db()
    assert draft.amount == Decimal("0.25")
    assert answer.url == address(draft, "review")


@pytest.mark.slow
def test_the_method_step_shows_what_each_relation_means_for_the_noise(desk, draft):
    """At ε = 0.25 noise of scale 4 stays within ± 12 people, of scale 8 within ± 24, with 95 %."""
    page = desk.post(address(draft, "offers"), {"mechanism": "laplace-histogram", "amount": "0.25"})
    text = "".join(page.content.decode().split())
    here, there = text.index("Addorremoveoneperson"), text.index("Replaceoneperson")
    assert here < text.index("±12", here) < text.index("thisdataset") < there < text.index("±24", there)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", [m.name for m in registry.HISTOGRAMS if Definition.PURE in m.definitions]
)
def test_every_method_shows_both_relations(desk, draft, mechanism):
    page = desk.post(address(draft, "offers"), {"mechanism": mechanism, "amount": "0.25"}).content.decode()
    assert page.count("this dataset") == 1 and "Replace one person" in page


def test_the_live_cells_are_counted_without_saving(desk, draft):
    page = desk.post(address(draft, "cells"), {"columns": ["age"], "people": "100"}).content.decode()
    assert ">10 <" in page
    draft.refresh_from_db()
    assert draft.columns == ["colour", "age"]


def test_the_dial_turns_a_cost_into_an_interval_and_back(desk, draft):
    method = {"mechanism": "laplace-histogram"}
    there = desk.get(address(draft, "dial"), {"epsilon": "0.5", **method}).json()
    # Discrete Laplace of scale 2: P(|noise| > 6) = 2 e^{-3.5} / (1 + e^{-0.5}) = 0.0376 <= 0.05 < P(|noise| > 5).
    assert there["half_width"] == 6
    back = desk.get(address(draft, "dial"), {"half_width": "6", **method}).json()
    assert Decimal(back["amount"]) <= Decimal("0.5")


def test_a_step_that_is_missing_is_where_the_review_leads(desk, dataset):
    draft = Release.objects.create(dataset=dataset, created_by=dataset.owner)
    assert desk.get(address(draft, "review")).url == address(draft, "columns")


def test_the_review_shows_cost_before_and_after(desk, draft):
    page = desk.get(address(draft, "review")).content.decode()
    for text in ("Spend ε 0.10 and release", "1.00", "0.90 afterwards"):
        assert text in page


def test_a_draft_can_be_deleted(desk, draft):
    desk.post(address(draft, "discard"))
    assert not Release.objects.exists()


def test_a_confirmed_release_cannot_be_deleted(desk, requested):
    answer = desk.post(address(requested, "discard"), follow=True)
    assert "Only a draft can be deleted" in str(*answer.context["messages"])
    assert Release.objects.filter(pk=requested.pk).exists()


def test_another_curators_draft_is_404(client, other_curator, draft):
    client.force_login(other_curator)
    for step in ("product", "columns", "method", "review"):
        assert client.get(address(draft, step)).status_code == 404, step


@pytest.mark.parametrize("amount", ["0", "-1", "abc", "NaN", "1e9"])
def test_a_mistyped_cost_is_no_fault_in_a_browsers_console(desk, dataset, amount):
    """A browser that goes to the page gets the form as any page; a program is told by the status, too."""
    draft = building.complete_draft(dataset)
    sent = {"mechanism": "laplace-histogram", "amount": amount, "purpose": "cells"}
    address = reverse("releases:method", args=[draft.pk])
    shown = desk.post(address, sent, headers={"Sec-Fetch-Mode": "navigate"})
    assert shown.status_code == 200 and shown.context["form"].errors["amount"]
    assert f'value="{amount}"' in shown.text
    assert desk.post(address, sent).status_code == 422


def test_a_program_that_acts_as_a_browser_is_told_by_the_status_of_the_api(desk):
    answer = desk.post("/api/v1/datasets", {}, "application/json", headers={"Sec-Fetch-Mode": "navigate"})
    assert answer.status_code >= 400
