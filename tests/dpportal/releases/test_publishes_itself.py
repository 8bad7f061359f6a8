"""Publishing may be said with the confirmation: it happens at the job's end, once, and by no one who lost the right."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry, Role, User
from dpportal.releases import drafts, execution, services, tasks
from dpportal.releases.models import Release
from tests.dpportal import building

pytestmark = pytest.mark.slow


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def confirmed(desk, dataset, amount: str, **then: str) -> Release:
    """Confirmed on its review, and gone through by a worker."""
    draft = building.complete_draft(dataset, amount)
    version, plan = drafts.plan_of(draft)
    sent = {"reviewed": services.reviewed_as(version, plan), "agreed": "on", **then}
    assert desk.post(reverse("releases:review", args=[draft.pk]), sent).status_code == 302
    execution.RELEASES.run(draft.pk)
    return Release.objects.get(pk=draft.pk)


def test_what_is_foreseen_as_useful_is_published_at_the_end_of_its_job(desk, dataset, client):
    release = confirmed(desk, dataset, "0.9", then="publish")
    assert release.is_public and not release.publishes_itself and release.compared_at is None
    assert AuditEntry.objects.filter(action="published").exists()
    live = desk.get(reverse("releases:job", args=[release.pk]), headers={"HX-Request": "true"})
    assert live["HX-Redirect"] == release.get_absolute_url()


def test_without_that_word_it_waits_for_its_curator(desk, dataset):
    assert not confirmed(desk, dataset, "0.9").is_public


def test_what_is_foreseen_as_useless_is_published_at_once_with_a_plain_warning(desk, dataset):
    draft = building.complete_draft(dataset, "0.01")
    review = " ".join(desk.get(reverse("releases:review", args=[draft.pk])).text.split())
    assert "Spend ε 0.01 and publish all the same" in review
    assert "Readers will see margins that are large beside the counts." in review
    assert confirmed(desk, dataset, "0.01", then="publish", useless="on").is_public


def test_the_review_says_what_everyone_will_see(desk, dataset):
    draft = building.complete_draft(dataset, "0.9")
    review = " ".join(desk.get(reverse("releases:review", args=[draft.pk])).text.split())
    assert "Spend ε 0.90 and publish" in review and f"the dataset's name “{dataset.name}”" in review


def test_who_lost_the_role_meanwhile_publishes_nothing_and_nothing_does_later(desk, dataset, curator):
    release = building.requested_release(dataset, "0.9")
    Release.objects.filter(pk=release.pk).update(publishes_itself=True)
    release.refresh_from_db()
    User.objects.filter(pk=curator.pk).update(role=Role.ADMINISTRATOR)
    execution.publish_as_decided(release)
    User.objects.filter(pk=curator.pk).update(role=Role.CURATOR)
    release.refresh_from_db()
    assert not release.publishes_itself and not release.is_public


def test_it_is_not_published_again_after_it_was_withdrawn(desk, dataset, curator):
    release = confirmed(desk, dataset, "0.9", then="publish")
    services.withdraw(release, curator, "A mistake")
    tasks.rewrite_files(Release.objects.filter(pk=release.pk))
    services.rename(release, "Another title", curator)
    execution.RELEASES.run(release.pk)
    assert not Release.objects.get(pk=release.pk).is_public
