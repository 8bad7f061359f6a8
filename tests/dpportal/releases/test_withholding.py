"""To publish or not does not follow the truth: the page says what was foreseen, and what is withheld after a look is
on record for the dataset's owner and administrators."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import records, sharing
from dpportal.datasets.models import Right
from dpportal.releases import execution, services
from dpportal.releases.models import Release
from dpportal.releases.products import presenter_of
from tests.dpportal import building
from tests.dpportal.releases.products.building import files

NOT_PUBLISHED = "Not published after its comparison"


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def at(release: Release, page: str) -> str:
    return reverse(f"releases:{page}", args=[release.pk])


def fresh(release: Release) -> Release:
    return Release.objects.get(pk=release.pk)


@pytest.mark.slow
def test_the_question_before_publishing_does_not_follow_the_truth(desk, dataset):
    """Foreseen as useful, and wrong in truth: there is no box to tick, no word of the error, and no look."""
    release = building.requested_release(dataset, "0.9")
    Release.objects.filter(pk=release.pk).update(people=3000)
    execution.RELEASES.run(release.pk)
    comparison = records.comparison(release.dataset_id, release.pk)
    assert comparison is not None
    comparison["errors"]["total_variation"]["counts"] = 0.99
    records.keep_comparison(release.dataset_id, release.pk, comparison)
    assert "Useless." in desk.get(at(release, "compare")).content.decode()
    looks = AuditEntry.objects.filter(action="viewed true counts")
    before = looks.count()
    page = desk.get(at(release, "publish")).content.decode()
    assert "Expected: useful." in page and "99 %" not in page and "all_the_same" not in page
    assert looks.count() == before
    assert desk.post(at(release, "publish")).status_code == 302
    assert fresh(release).is_public
    verdict = presenter_of(release).verdict(comparison)
    assert verdict is not None
    assert not [name for name, content in files(release).items() if verdict.text.encode() in content]
    guide = desk.get(reverse("guide")).content.decode()
    assert 'id="looking"' in guide and "Harmless: decide before you compare" in guide


@pytest.mark.slow
def test_what_is_not_published_after_a_look_is_on_record(
    client, curator, other_curator, administrator, ready
):
    """The comparison as a file is a look, too. Who may only see the dataset does not see what was withheld."""
    client.force_login(curator)
    home = reverse("datasets:home", args=[ready.dataset_id])
    ledger = reverse("budgets:ledger", args=[ready.dataset_id])
    assert NOT_PUBLISHED not in client.get(home).content.decode()
    client.get(at(ready, "compare_csv"))
    first = fresh(ready).compared_at
    assert first is not None
    assert "Do not decide by what you see here" in client.get(at(ready, "compare")).content.decode()
    assert fresh(ready).compared_at == first
    for shown in (home, ledger, reverse("budgets:ledger_csv", args=[ready.dataset_id])):
        assert NOT_PUBLISHED in client.get(shown).content.decode()
    client.force_login(administrator)
    for shown in ("/admin/budgets/ledgerentry/", "/admin/releases/release/"):
        assert NOT_PUBLISHED in client.get(shown).content.decode()
    sharing.share(ready.dataset, other_curator.username, Right.SEE, curator)
    client.force_login(other_curator)
    assert NOT_PUBLISHED not in client.get(home).content.decode()
    services.publish(ready, curator)
    assert fresh(ready).withheld == ""
    assert AuditEntry.objects.get(action="published").detail.startswith("after its comparison was seen")


@pytest.mark.slow
def test_a_withdrawal_and_a_replacement_after_a_look_are_on_record(desk, curator, dataset, ready):
    services.publish(ready, curator)
    services.withdraw(ready, curator)
    assert fresh(ready).withheld == "" and AuditEntry.objects.get(action="withdrew").detail == ""
    services.publish(ready, curator)
    desk.get(at(ready, "compare"))
    newer = building.requested_release(dataset, "0.2")
    execution.RELEASES.run(newer.pk)
    desk.post(at(newer, "publish"), {"supersedes": ready.pk, "all_the_same": "on"})
    assert fresh(ready).withheld.startswith("Replaced after its comparison")
    assert AuditEntry.objects.get(action="replaced", subject__endswith=str(ready.pk)).detail
    desk.post(at(ready, "withdraw"), {"because": ""})
    assert fresh(ready).withheld.startswith("Withdrawn after its comparison")
    assert AuditEntry.objects.filter(action="withdrew").latest("pk").detail.startswith("after its comparison")
    assert fresh(ready).amount == Decimal("0.1")


@pytest.mark.slow
def test_a_replacement_by_what_was_public_before_the_look_is_on_record(desk, curator, dataset, ready):
    newer = building.requested_release(dataset, "0.2")
    execution.RELEASES.run(newer.pk)
    for release in (ready, newer):
        services.publish(release, curator)
    desk.get(at(ready, "compare"))
    assert fresh(ready).withheld == ""
    desk.post(at(newer, "details"), {"supersedes": ready.pk})
    assert fresh(ready).withheld.startswith("Replaced after its comparison")
    desk.post(at(newer, "details"), {"supersedes": ""})
    assert fresh(ready).withheld == ""


@pytest.mark.slow
def test_lists_and_the_bell_lead_to_a_page_without_true_counts_that_publishes_and_withdraws(
    desk, curator, ready
):
    compare = at(ready, "compare")
    for page in (reverse("releases:list"), reverse("releases:finished"), at(ready, "publish")):
        text = desk.get(page).content.decode()
        assert at(ready, "job") in text and compare not in text
    before = desk.get(at(ready, "job")).content.decode()
    assert at(ready, "publish") in before and "Decide about publishing before you compare" in before
    services.publish(ready, curator)
    assert at(ready, "withdraw") in desk.get(at(ready, "job")).content.decode()
    assert fresh(ready).compared_at is None


@pytest.mark.slow
def test_a_page_with_true_counts_neither_publishes_nor_withdraws(desk, ready, curator):
    """The verdict against the truth is seen nowhere in the moment of choosing."""
    shown = desk.get(at(ready, "compare")).content.decode()
    assert at(ready, "publish") not in shown and at(ready, "job") in shown
    services.publish(ready, curator)
    assert at(ready, "withdraw") not in desk.get(at(ready, "compare")).content.decode()


def test_withdrawing_ends_on_the_release(desk, ready, curator):
    services.publish(ready, curator)
    answer = desk.post(at(ready, "withdraw"), {"because": "A wrong column"}, follow=True)
    assert answer.redirect_chain == [(ready.get_absolute_url(), 302)] and "Withdrawn." in answer.text


def test_the_owners_pages_say_when_and_why_it_was_withdrawn(desk, ready, curator):
    services.publish(ready, curator)
    for page in (ready.get_absolute_url(), at(ready, "job")):
        assert "Withdrawn on" not in desk.get(page).text
    services.withdraw(ready, curator, "A wrong column")
    for page in (ready.get_absolute_url(), at(ready, "job")):
        notice = desk.get(page).text.partition("Withdrawn on")[2].partition("</div>")[0]
        assert str(timezone.localdate().year) in notice and "A wrong column" in notice
    shown = desk.get(ready.get_absolute_url()).text
    assert "A preview" not in shown and "Publish again" in shown
