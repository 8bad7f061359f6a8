"""A dataset released under two promises: no exact total after it was promised hidden, and each page names the other."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from django.urls import reverse

from dpportal.budgets import ledger
from dpportal.budgets.forms import protection_digest
from dpportal.budgets.models import LedgerEntry
from dpportal.budgets.promises import AccountPromise
from dpportal.datasets import services as datasets
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection
from dpportal.jobs.claims import JobState
from dpportal.jobs.clock import db_ago
from dpportal.publications.downloads import FAILED_PAUSE_SECONDS
from dpportal.releases import drafts, execution, services, tasks
from dpportal.releases.models import ChangedPromise, Release, ReleaseJob
from dpportal.releases.privacy_statement import promise
from dpportal.releases.products import confirmed_plan
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import files

EXACT = {"neighbours": "replace-one", "unit_column": "", "max_rows": 1}
HIDDEN = {"neighbours": "add-remove", "unit_column": "", "max_rows": 1}
PEOPLE = {"neighbours": "add-remove", "unit_column": "age", "max_rows": 3}
COLUMNS = [
    Categorical("colour", values=("red", "green", "blue")),
    Integer("age", lower=0, upper=99, width=10),
]
ROWS_ARE_PUBLIC = "may make the number of its rows public"


def declared(dataset: Dataset, **unit) -> Dataset:
    """Nothing is left out, so that under replace-one the total would be public."""
    datasets.declare_unit(dataset, **unit)
    return Dataset.objects.get(pk=dataset.pk)


def funded(dataset: Dataset, by, total: str = "5", **unit) -> Dataset:
    return building.granted(declared(dataset, **unit), by, total)


def released(dataset: Dataset, amount: str = "0.1") -> Release:
    release = building.requested_release(dataset, amount)
    execution.RELEASES.run(release.pk)
    return fresh(release)


def fresh(release: Release) -> Release:
    return Release.objects.get(pk=release.pk)


def facts(release: Release) -> dict:
    return json.loads(files(release)["release.json"])


def test_without_another_promise_replace_one_publishes_the_total(dataset):
    plan = confirmed_plan(building.requested_release(declared(dataset, **EXACT)))
    assert plan.parameters["total"] == building.ROWS and plan.loss.unit.total_public


@pytest.mark.parametrize("first", [HIDDEN, PEOPLE, {**PEOPLE, "neighbours": "replace-one"}])
def test_a_total_that_was_promised_hidden_is_published_by_no_later_release(dataset, administrator, first):
    spent = building.requested_release(declared(dataset, **first))
    ledger.spend(spent.charge)
    later = building.requested_release(funded(dataset, administrator, **EXACT))
    plan = confirmed_plan(later)
    assert "total" not in plan.parameters and building.ROWS not in plan.parameters.values()
    assert later.protects(plan.loss.unit, later.other_promises)["number_of_rows_is_public"] is False
    assert "while the number of rows is public" not in promise(later, plan.loss, later.other_promises)


@pytest.mark.slow
@pytest.mark.parametrize("is_original", [True, False], ids=["the first one", "the copy"])
def test_a_hidden_total_is_not_published_through_another_copy_of_the_table(
    client, dataset, administrator, is_original
):
    """An administrator allowed the copy; the records that were released from first are deleted meanwhile."""
    copy = building.granted(building.stored_dataset(dataset.owner), administrator)
    stranger = building.granted(building.stored_dataset(administrator), administrator)
    Dataset.objects.filter(pk=copy.pk).update(duplicate_of=dataset)
    first, second = (dataset, copy) if is_original else (copy, dataset)
    ledger.spend(building.requested_release(Dataset.objects.get(pk=first.pk)).charge)
    Release.objects.update(state=Release.State.READY)
    ReleaseJob.objects.update(state=JobState.DONE)
    datasets.erase(first, first.owner)
    plan = confirmed_plan(building.requested_release(declared(second, **EXACT)))
    assert not plan.loss.unit.total_public and building.ROWS not in plan.parameters.values()
    assert confirmed_plan(building.requested_release(declared(stranger, **EXACT))).loss.unit.total_public
    client.force_login(second.owner)
    page = client.get(reverse("datasets:unit", args=[second.pk])).content.decode()
    assert "The number of rows stays private." in page


def test_a_reservation_hides_the_total_and_one_that_is_void_does_not(dataset, administrator):
    waiting = building.requested_release(dataset)
    there = funded(dataset, administrator, **EXACT)
    assert not there.current_domain().unit.total_public
    services.cancel(waiting)
    assert Dataset.objects.get(pk=there.pk).current_domain().unit.total_public


def test_a_plan_that_was_reviewed_before_the_other_promise_is_refused(dataset, administrator):
    """The draft's plan said N; then somebody reserves a release that hides it; confirming the first is refused."""
    building.granted(dataset, administrator)
    draft = building.complete_draft(declared(dataset, **EXACT))
    version, plan = drafts.plan_of(draft)
    shown = services.reviewed_as(version, plan)
    declared(dataset, **HIDDEN)
    building.requested_release(Dataset.objects.get(pk=dataset.pk))
    there = funded(dataset, administrator, **EXACT)
    with pytest.raises(services.ReleaseError, match="Read the review again"):
        services.request_release(Release.objects.get(pk=draft.pk), reviewed=shown, by=there.owner)


def test_no_product_publishes_the_hidden_total(dataset, administrator):
    building.requested_release(dataset)
    there = funded(dataset, administrator, **EXACT)
    for product, mechanism, columns in (
        (Release.Product.RESPONSE, "k-ary-randomised-response", ["colour"]),
        (Release.Product.MICRODATA, "independent-columns", ["colour", "age"]),
    ):
        draft = building.complete_draft(there)
        draft.product, draft.columns = product, columns
        draft.parameters = {}
        methods = [offer for offer in drafts.offers(draft, Decimal("0.1")) if offer.plan]
        for offer in methods:
            assert "total" not in (offer.plan.to_json().get("parameters") or {}), mechanism
            assert offer.plan.to_json().get("total") is None
        if product == Release.Product.RESPONSE:
            assert not methods


def test_a_promise_after_the_total_was_published_promises_no_more_than_is_true(
    client, dataset, administrator
):
    exact = building.requested_release(declared(dataset, **EXACT))
    ledger.spend(exact.charge)
    assert ROWS_ARE_PUBLIC not in promise(exact, confirmed_plan(exact).loss, exact.other_promises)
    later = building.requested_release(funded(dataset, administrator, **HIDDEN))
    plan, others = confirmed_plan(later), later.other_promises
    assert ROWS_ARE_PUBLIC in promise(later, plan.loss, others)
    assert later.protects(plan.loss.unit, others)["number_of_rows_is_public_by_any_release"] is True
    client.force_login(later.created_by)
    page = client.get(reverse("datasets:unit", args=[dataset.pk])).content.decode()
    assert "The number of rows is public." in page


def test_whoever_is_released_before_a_confirmed_total_says_that_the_rows_become_public(
    dataset, administrator
):
    """Its worker may be slow, or frozen: it publishes the number that was confirmed all the same."""
    exact = building.requested_release(declared(dataset, **EXACT))
    hidden = building.requested_release(funded(dataset, administrator, **HIDDEN))
    execution.RELEASES.run(hidden.pk)
    facts = json.loads(files(fresh(hidden))["release.json"])
    assert ROWS_ARE_PUBLIC in facts["statement"]
    assert facts["protects"]["number_of_rows_is_public_by_any_release"] is True
    execution.RELEASES.run(exact.pk)
    assert confirmed_plan(fresh(exact)).parameters["total"] == building.ROWS
    assert json.loads(files(fresh(hidden))["release.json"]) == facts


def test_what_was_confirmed_and_given_up_makes_no_number_public(dataset, administrator):
    exact = building.requested_release(declared(dataset, **EXACT))
    hidden = building.requested_release(funded(dataset, administrator, **HIDDEN))
    execution.RELEASES.run(hidden.pk)
    services.cancel(exact)
    tasks.sweep()
    assert execution.RELEASES.run(hidden.pk)
    assert ROWS_ARE_PUBLIC not in json.loads(files(fresh(hidden))["release.json"])["statement"]


def test_a_release_that_publishes_the_number_of_rows_is_any_release(dataset):
    exact = building.requested_release(declared(dataset, **EXACT))
    told = exact.protects(confirmed_plan(exact).loss.unit, exact.other_promises)
    assert told["number_of_rows_is_public"] is told["number_of_rows_is_public_by_any_release"] is True


@pytest.mark.slow
def test_a_copy_of_a_table_whose_total_is_public_says_so(client, dataset, administrator):
    copy = building.granted(declared(building.stored_dataset(dataset.owner), **HIDDEN), administrator)
    Dataset.objects.filter(pk=copy.pk).update(duplicate_of=dataset)
    exact = building.requested_release(declared(dataset, **EXACT))
    hidden = building.requested_release(Dataset.objects.get(pk=copy.pk))
    plan = confirmed_plan(hidden)
    assert ROWS_ARE_PUBLIC in promise(hidden, plan.loss, hidden.other_promises)
    ledger.spend(exact.charge)
    assert ROWS_ARE_PUBLIC in promise(hidden, plan.loss, hidden.other_promises)
    client.force_login(copy.owner)
    page = client.get(reverse("datasets:unit", args=[copy.pk])).content.decode()
    assert "The number of rows is public." in page


def test_the_page_of_who_is_protected_says_what_stays(client, dataset, administrator):
    building.requested_release(funded(dataset, administrator, total="5", **HIDDEN), "5")
    client.force_login(dataset.owner)
    page = client.get(reverse("datasets:unit", args=[dataset.pk])).content.decode()
    assert "The number of rows stays private." in page
    assert "a person with 10 rows up to ε = 50.00 (10 × 5.00)" in page


@pytest.mark.slow
def test_a_person_in_both_is_told_of_both_on_every_page_and_file_also_of_what_was_made_before(
    client, dataset, administrator
):
    """The example: a person account at ε = 0.1, a row account at ε = 5, ten rows: 50."""
    person = released(declared(dataset, **PEOPLE), "0.1")
    services.publish(person, person.created_by)
    assert facts(person)["protects"]["released_under_other_protections_too"] is False
    rows = released(funded(dataset, administrator, total="6", **HIDDEN), "5")
    services.publish(rows, rows.created_by)

    public = client.get(person.get_absolute_url()).content.decode()
    worked = "That can cost a person with 10 rows up to ε = 50.00 (10 × 5.00)."
    assert worked in public and "are being written anew" in public
    assert client.get(reverse("releases:download", args=[person.pk, "release.json"])).status_code == 503
    tasks.sweep()  # the charge only noted it
    assert execution.RELEASES.run(person.pk)
    written = facts(fresh(person))
    assert worked in written["statement"]
    assert written["protects"]["released_under_other_protections_too"] is True
    [other] = written["protects"]["other_protections"]
    assert (other["person_column"], other["spent"]) == ("", "5")
    for name in ("README.md", "report.html", "datapackage.json", "croissant.json"):
        assert worked.encode() in files(fresh(person))[name]

    mine = facts(rows)["statement"]
    assert "this release can cost a person with 10 rows up to ε = 50.00 (10 × 5.00)" in mine
    assert "have spent ε = 0.10 in all" in mine
    assert mine in client.get(rows.get_absolute_url()).content.decode()


def test_a_promise_in_rho_grows_with_the_square():
    rows = AccountPromise(Protection("add-remove"), Definition.ZCDP, Decimal("0.5"), "each row")
    assert "ρ = 50.00 (10² × 0.50)" in rows.for_people_of(Protection("add-remove", "id"))
    assert "ρ = 200.00 (2² × 10² × 0.50)" in rows.for_people_of(Protection("replace-one", "id"))
    assert rows.from_release(Loss(Definition.ZCDP, Fraction(1)), Protection("add-remove", "id"), "this") == ""


@pytest.mark.slow
def test_a_grant_for_another_promise_is_refused_until_it_was_read(client, dataset, administrator):
    building.requested_release(funded(dataset, administrator, total="5", **HIDDEN), "5")
    there = declared(dataset, **PEOPLE)
    client.force_login(administrator)
    address = reverse("grant", args=[there.pk])
    page = client.get(address).content.decode()
    assert (
        "It can cost a person with 10 rows, as this grant sees people, up to ε = 60.00 (10 × 6.00)." in page
    )
    sent = {"protects": protection_digest(there), "amount": "1", "reason": "For people"}
    answer = client.post(address, sent)
    assert answer.status_code == 422 and "Read what it means for one person" in answer.content.decode()
    grants = LedgerEntry.objects.filter(kind="grant").count()
    key = str(there.budgets.get().pk)
    assert client.post(address, {**sent, "promises": [key]}).status_code == 302
    assert LedgerEntry.objects.filter(kind="grant").count() == grants + 1


def test_whoever_asks_for_a_budget_reads_of_the_other_promise(client, dataset, administrator):
    building.requested_release(dataset)
    there = declared(dataset, **PEOPLE)
    client.force_login(there.owner)
    page = client.get(reverse("datasets:home", args=[there.pk])).content.decode()
    assert "Another promise was made to the same people" in page


@pytest.mark.slow
def test_pages_beside_a_copy_tell_what_it_spent(client, dataset, administrator):
    copy = building.granted(building.stored_dataset(dataset.owner, "Copy"), administrator, "9")
    copy.same_people.add(dataset)
    ledger.spend(building.requested_release(Dataset.objects.get(pk=copy.pk), "3").charge)
    mine = released(Dataset.objects.get(pk=dataset.pk))
    services.publish(mine, mine.created_by)
    for page in (mine.get_absolute_url(), reverse("public_dataset", args=[dataset.pk])):
        text = " ".join(re.sub("<[^>]+>", " ", client.get(page).text).split())
        assert re.search("ε = 3.00 .{0,300}by other datasets of nearly the same people", text)


def uploaded(client, by, administrator, rows: int, **unit) -> Dataset:
    """A table of so many rows, of which all but a few are those of another one that was made here."""
    client.force_login(by)
    lines = (b"%s,%d\n" % ((b"red", b"green", b"blue")[i % 3], i % 100) for i in range(rows))
    dataset = building.uploaded(client, b"colour,age\n" + b"".join(lines))
    datasets.declare_all(dataset, COLUMNS)
    return building.granted(declared(dataset, **unit), administrator, knowing=True)


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False])
def test_the_total_stays_hidden_in_a_table_of_nearly_the_same_people(
    client, curator, other_curator, administrator, own
):
    """Where it is its owner's; of another person's table nobody is to learn."""
    hidden = released(uploaded(client, curator, administrator, 3000, **HIDDEN))
    services.publish(hidden, curator)
    by = curator if own else other_curator
    exact = released(uploaded(client, by, administrator, 3001, **EXACT))
    assert exact.dataset.total_stays_private is own
    assert ("total" in exact.plan_json["parameters"]) is not own
    said = facts(exact)
    assert (
        "Releases and private choices of other datasets of nearly the same people protect"
        in said["statement"]
    ) is own
    elsewhere = said["protects"]["other_datasets_of_nearly_the_same_people"]
    assert [(each["neighbours"], each["spent"]) for each in elsewhere] == [("add-remove", "0.1")] * own
    assert said["protects"]["other_protections"] == []


@pytest.mark.slow
def test_a_table_of_nearly_the_same_people_names_what_was_published_before(client, curator, administrator):
    """And what adds up: its files are written anew when the other one spends."""
    exact = released(uploaded(client, curator, administrator, 3000, **EXACT))
    hidden = released(uploaded(client, curator, administrator, 3001, **HIDDEN))
    statement = facts(hidden)["statement"]
    assert ROWS_ARE_PUBLIC in statement and "and have spent ε = 0.10 in all" in statement
    assert "Costs under different promises are not added" in statement
    assert "other datasets" in promise(exact, confirmed_plan(exact).loss, exact.other_promises)

    again = released(declared(exact.dataset, **EXACT), "0.2")
    assert fresh(again).dataset == exact.dataset
    client.force_login(curator)
    download = reverse("releases:download", args=[hidden.pk, "release.json"])
    assert client.get(download).status_code == 200  # more was spent: the former files, and the page says so
    assert (
        "Something that these files say has changed" in client.get(hidden.get_absolute_url()).content.decode()
    )
    tasks.sweep()
    assert not ChangedPromise.objects.exists() and not execution.RELEASES.run(hidden.pk)  # the pause
    # Workers died of writing them: they would say too little for long, so nobody gets them until it was tried again.
    ReleaseJob.objects.update(state=JobState.FAILED)
    assert client.get(download).status_code == 503
    tasks.sweep()
    assert not execution.RELEASES.run(hidden.pk)
    ReleaseJob.objects.update(finished_at=db_ago(FAILED_PAUSE_SECONDS + 1))
    tasks.sweep_words()
    assert execution.RELEASES.run(hidden.pk)
    assert client.get(download).status_code == 200
    assert "and have spent ε = 0.30 in all" in facts(fresh(hidden))["statement"]


def test_what_was_spent_for_the_same_people_elsewhere_adds_up(dataset, administrator):
    copies = [building.granted(building.stored_dataset(dataset.owner), administrator) for _ in range(2)]
    Dataset.objects.filter(pk__in=[copy.pk for copy in copies]).update(duplicate_of=dataset)
    for each in (dataset, *copies):
        ledger.spend(building.requested_release(Dataset.objects.get(pk=each.pk)).charge)
    release = Release.objects.filter(dataset=dataset).get()
    stated = promise(release, confirmed_plan(release).loss, release.other_promises)
    assert (
        "Releases and private choices of other datasets of nearly the same people protect each row" in stated
    )
    assert "have spent ε = 0.20 in all. For a person who is in them, that adds up" in stated
    assert "Costs under different promises" not in stated


@pytest.mark.parametrize("own", [HIDDEN, PEOPLE], ids=["rows here", "the same column here"])
def test_no_page_names_the_person_column_of_another_dataset(dataset, administrator, own):
    """Perhaps nothing is published of that one; a column that this one's own pages name tells nothing."""
    there = building.granted(declared(building.stored_dataset(dataset.owner), **PEOPLE), administrator)
    Dataset.objects.filter(pk=there.pk).update(duplicate_of=dataset)
    ledger.spend(building.requested_release(Dataset.objects.get(pk=there.pk)).charge)
    release = building.requested_release(funded(dataset, administrator, **own))
    plan, others = confirmed_plan(release), release.other_promises
    stated = promise(release, plan.loss, others)
    assert "nearly the same people protect each person" in stated and "have spent ε = 0.10 in all" in stated
    is_known = own == PEOPLE
    assert ("adds up" in stated) is is_known
    said = json.dumps([stated, others.facts()])
    assert ("age" in said) is is_known
    [elsewhere] = others.facts()["other_datasets_of_nearly_the_same_people"]
    assert elsewhere["person_column"] == ("age" if is_known else None) and elsewhere["spent"] == "0.1"
