"""Spends above a threshold wait for an administrator; what is not possible any more is not done."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import AuditEntry, OutgoingMail, Role
from dpportal.approvals import acts, services
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalError
from dpportal.budgets import ledger, second_person
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import services as datasets
from dpportal.jobs import search_cache
from dpportal.jobs.search_cache import SEARCHES
from dpportal.platform.two_people import SPENDS, TwoPeople
from dpportal.releases import drafts, services as releases
from dpportal.releases.models import Release
from dpportal.streams.models import Stream
from mechanisms.domain import Integer
from tests.dpportal import building
from tests.dpportal.approvals.conftest import answers, desk_of
from tests.dpportal.streams import building as stream_building

State = Approval.State
pytestmark = pytest.mark.slow


def confirms(draft):
    """The page after its curator has confirmed a draft."""
    desk, address = desk_of(draft.created_by), reverse("releases:review", args=[draft.pk])
    reviewed = desk.get(address).context["form"]["reviewed"].value()
    return desk.post(address, {"reviewed": reviewed, "agreed": "on", "useless": "on"}, follow=True)


@pytest.fixture
def large(dataset, two_people) -> Release:
    """A draft of ε 0.3, where more than 0.2 needs a second person."""
    return building.complete_draft(dataset, "0.3")


@pytest.fixture
def asked(large) -> Approval:
    confirms(large)
    return Approval.objects.get()


def charges() -> list[LedgerEntry]:
    return list(LedgerEntry.objects.filter(kind=LedgerEntry.Kind.CHARGE))


def test_a_large_spend_is_asked_for_and_nothing_is_reserved(large):
    page = confirms(large)
    assert "This waits for an administrator to approve what curator asked for" in page.text
    assert page.request["PATH_INFO"] == reverse("releases:review", args=[large.pk])
    approval = Approval.objects.get()
    assert (approval.state, approval.by, approval.subject) == (State.WAITING, large.created_by, str(large.pk))
    assert approval.summary == "Spend ε 0.30 of “Small table” on “Colours by age”."
    assert charges() == [] and building.left(large.dataset) == 1
    large.refresh_from_db()
    assert large.is_draft


def test_an_approved_spend_is_made_and_both_are_named(asked, large, second):
    assert "Ask for a second person" in desk_of(large.created_by).get(asked.address).text
    listed = desk_of(second).get(reverse("approvals"))
    assert "Spend ε 0.3" in listed.text and services.news(second) == 1
    assert "1 act waits for a second person" in " ".join(desk_of(second).get(reverse("office")).text.split())
    assert "Approved, and done." in answers(second, asked).text
    [charge] = charges()
    assert charge.by == large.created_by and charge.reason == "Colours by age (approved by second)"
    large.refresh_from_db()
    assert large.state == Release.State.REQUESTED
    line = AuditEntry.objects.get(action="approved as second person")
    assert line.by == second and "asked for by curator" in line.detail
    assert services.news(second) == 0


def test_many_small_spends_need_a_second_person_as_a_large_one_does(dataset, two_people, second):
    """By whom they are makes no difference, nor when; an approved one begins the count anew."""
    for _ in range(2):
        confirms(building.complete_draft(dataset, "0.1"))
    assert len(charges()) == 2 and not Approval.objects.exists()
    third = building.complete_draft(dataset, "0.05")
    with pytest.raises(BudgetRefusedError, match="needs a second person"):
        building.confirm(third)
    page = confirms(third).text
    assert "This waits for an administrator" in page
    listed = desk_of(second).get(reverse("approvals")).text
    assert second_person.rule_text() in listed and "ε 0.20 or ρ 0.01" in second_person.rule_text()
    answers(second, Approval.objects.get())
    confirms(building.complete_draft(dataset, "0.2"))
    assert [str(charge.amount.normalize()) for charge in charges()] == ["0.2", "0.05", "0.1", "0.1"]
    least = reverse("releases:review", args=[building.complete_draft(dataset, "0.000001").pk])
    assert second_person.rule_text() in desk_of(dataset.owner).get(least).text


def test_what_was_given_back_does_not_count_and_a_copy_s_spends_do(dataset, two_people, curator):
    draft = building.complete_draft(dataset, "0.2")
    confirms(draft)
    ledger.void(Release.objects.get(pk=draft.pk).charge)
    assert not second_person.exceeds(Decimal("0.2"), dataset, "pure")
    confirms(building.complete_draft(dataset, "0.2"))
    assert second_person.exceeds(Decimal("0.01"), dataset, "pure")
    assert second_person.exceeds(Decimal("0.001"), dataset, "zcdp")
    other = building.stored_dataset(curator, "Another file of these people")
    assert not second_person.exceeds(Decimal("0.01"), other, "pure")
    other.same_people.add(dataset)
    assert second_person.exceeds(Decimal("0.01"), other, "pure")


def test_small_spends_and_sites_without_the_wish_go_on_at_once(dataset, two_people, settings):
    confirms(building.complete_draft(dataset, "0.2"))
    settings.TWO_PEOPLE = type(two_people)()
    confirms(building.complete_draft(dataset, "0.3"))
    assert len(charges()) == 2 and not Approval.objects.exists()


def test_no_code_spends_without(large):
    with pytest.raises(BudgetRefusedError, match="needs a second person"):
        building.confirm(large)
    assert charges() == []


def test_nor_because_another_draft_was_approved(large, second, monkeypatch):
    confirms(large)
    other = building.complete_draft(large.dataset, "0.3")
    monkeypatch.setitem(
        acts._acts, "spends", acts.Act("spends", "", lambda _approval: building.confirm(other))
    )
    with pytest.raises(BudgetRefusedError, match="needs a second person"):
        services.approve(Approval.objects.get(), second)
    assert charges() == [] and Approval.objects.get().is_waiting


def test_nobody_approves_their_own_request_not_in_another_role_session_or_way(asked, large, second):
    asker = large.created_by
    assert answers(asker, asked).status_code == 404
    asker.role = Role.ADMINISTRATOR
    asker.save()
    for how, sent in (("approve", {}), ("refuse", {"reason": "No"})):
        assert "You asked for this yourself" in answers(asker, asked, how, **sent).text
    assert "You asked for this yourself" in desk_of(asker).get(reverse("approvals")).text
    with pytest.raises(ApprovalError):
        services.approve(asked, asker)
    with pytest.raises(IntegrityError), transaction.atomic():
        Approval.objects.update(answered_by=asker)
    admin = desk_of(asker).get(reverse("admin:index")).text
    assert "approval" not in admin.lower()
    assert desk_of(asker).get(f"/admin/approvals/approval/{asked.pk}/change/").status_code == 404
    assert Approval.objects.get().is_waiting and charges() == []


@pytest.mark.parametrize("role", [Role.CURATOR, Role.ANALYST])
def test_only_administrators_who_still_are_answer(asked, role, second):
    second.role = role
    second.save()
    assert answers(second, asked).status_code == 404
    second.role, second.is_active = Role.ADMINISTRATOR, False
    second.save()
    with pytest.raises(ApprovalError, match="Only an administrator"):
        services.approve(asked, second)
    assert charges() == []


def test_it_is_answered_once(asked, administrator, second):
    answers(second, asked)
    assert "answered meanwhile" in answers(administrator, asked).text
    assert "answered meanwhile" in answers(administrator, asked, "refuse", reason="Late").text
    assert len(charges()) == 1


def test_a_refusal_has_a_reason_that_the_asker_reads(asked, large, second):
    assert "Say in a sentence why" in answers(second, asked, "refuse").text
    answers(second, asked, "refuse", reason="Half of it would do.")
    page = desk_of(large.created_by).get(asked.address).text
    assert "refused" in page and "Half of it would do." in page
    assert charges() == [] and "answered meanwhile" in answers(second, asked).text


def test_a_request_expires_and_the_asker_is_told(asked, large, second, settings):
    settings.EMAIL_URL = "smtp://localhost"
    large.created_by.email = "curator@example.org"
    large.created_by.save()
    Approval.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "has expired" in answers(second, asked).text
    services.expire()
    services.expire()
    assert Approval.objects.get().state == State.EXPIRED
    assert OutgoingMail.objects.filter(text__contains="Nobody answered in time").count() == 1
    assert charges() == []
    confirms(large)
    answers(second, Approval.objects.get(state=State.WAITING))
    assert len(charges()) == 1


@pytest.mark.parametrize("change", ["draft", "deleted", "budget", "right", "confirmed"])
def test_what_is_not_possible_any_more_is_not_done_and_says_so(
    asked, large, second, administrator, change, settings
):
    if change == "draft":
        Release.objects.update(columns=["colour"])
    if change == "deleted":
        releases.discard(large)
    if change == "budget":
        ledger.reduce(large.account, Decimal("0.8"), reason="Taken back", by=administrator)
    if change == "right":
        large.created_by.role = Role.ANALYST
        large.created_by.save()
    if change == "confirmed":
        wish, settings.TWO_PEOPLE = settings.TWO_PEOPLE, type(settings.TWO_PEOPLE)()
        building.confirm(large)
        settings.TWO_PEOPLE = wish
    before = len(charges())
    assert "Nothing was done" in answers(second, asked).text
    approval = Approval.objects.get()
    assert approval.state == State.OUTDATED and approval.answer and approval.answered_by == second
    assert len(charges()) == before
    line = AuditEntry.objects.get(action="approved, but nothing was done")
    assert line.by == second and not AuditEntry.objects.filter(action="approved as second person").exists()


def test_what_has_to_be_searched_for_anew_is_approved_later_and_not_asked_for_again(large, second):
    """As when the portal was updated between asking and answering: searches of older code are found anew."""
    datasets.declare(large.dataset, "age", Integer("age", lower=0, upper=599))
    Release.objects.update(columns=["age"], mechanism="hierarchical-histogram", purpose="ranges")
    desk_of(large.created_by).get(reverse("releases:review", args=[large.pk]))
    search()
    confirms(large)
    search_cache.forget_all()
    for _twice in range(2):
        assert "Approve it again in a minute" in answers(second, Approval.objects.get()).text
        assert Approval.objects.get().is_waiting and charges() == []
    search()
    assert "Approved, and done." in answers(second, Approval.objects.get()).text
    assert len(charges()) == 1


def search() -> None:
    """What a worker does."""
    for question in SEARCHES.jobs():
        SEARCHES.run(question.pk)


def test_what_could_not_be_paid_is_not_asked_for(large, administrator):
    ledger.reduce(large.account, Decimal("0.8"), reason="Taken back", by=administrator)
    desk, address = desk_of(large.created_by), reverse("releases:review", args=[large.pk])
    version, plan = drafts.plan_of(large)
    reviewed = releases.reviewed_as(version, plan)
    assert "ε = 0.20 left" in desk.post(address, {"reviewed": reviewed, "agreed": "on", "useless": "on"}).text
    assert not Approval.objects.exists()


def test_a_later_request_replaces_an_earlier_one(asked, large):
    confirms(large)
    assert Approval.objects.count() == 1
    Release.objects.update(amount=Decimal("0.4"))
    large.refresh_from_db()
    confirms(large)
    assert list(Approval.objects.order_by("pk").values_list("state", flat=True)) == [
        State.REPLACED,
        State.WAITING,
    ]


def test_running_counts_wait_as_releases_do(dataset, two_people, second):
    draft = stream_building.draft_stream(dataset, amount=Decimal("0.3"))
    desk, address = desk_of(draft.created_by), reverse("streams:review", args=[draft.pk])
    reviewed = desk.get(address).context["form"]["reviewed"].value()
    desk.post(address, {"reviewed": reviewed, "agreed": "on", "useless": "on"})
    draft.refresh_from_db()
    assert draft.state == Stream.State.DRAFT and charges() == []
    answers(second, Approval.objects.get())
    draft.refresh_from_db()
    assert draft.state == Stream.State.OPENING and charges()[0].reason.endswith("(approved by second)")


@pytest.mark.parametrize("rho, waits", [("0.005", False), ("0.006", True)])
def test_losses_of_two_kinds_count_together_as_shares_of_their_limits(
    dataset, two_people, administrator, settings, rho, waits
):
    """Half of what one may spend in ε and half of it in ρ are as much as all of one; not twice as much."""
    settings.TWO_PEOPLE = TwoPeople(frozenset({SPENDS}), Decimal("0.2"), Decimal("0.01"))
    confirms(building.complete_draft(dataset, "0.1"))
    datasets.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    dataset.refresh_from_db()
    building.granted(dataset, administrator, "1", "zcdp")
    draft = building.complete_draft(dataset, rho)
    Release.objects.filter(pk=draft.pk).update(mechanism="gaussian-histogram", priced_in="zcdp")
    draft.refresh_from_db()
    confirms(draft)
    assert Approval.objects.exists() is waits and len(charges()) == (1 if waits else 2)


def test_where_one_loss_is_allowed_nothing_each_of_it_waits(dataset, two_people, settings):
    settings.TWO_PEOPLE = TwoPeople(frozenset({SPENDS}), Decimal(0), Decimal("0.01"))
    assert second_person.exceeds(Decimal("0.001"), dataset, "pure")
    assert not second_person.exceeds(Decimal("0.01"), dataset, "zcdp")
    assert second_person.exceeds(Decimal("0.0101"), dataset, "zcdp")
