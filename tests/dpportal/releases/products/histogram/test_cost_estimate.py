"""What a histogram's job takes is said before it is asked for, and what does not fit is refused for nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.jobs import memory_limits
from dpportal.jobs.claims import JobState
from dpportal.releases import drafts, execution, services
from dpportal.releases.products import DraftError, confirmed_plan
from dpportal.releases.products.histogram import cost_estimate
from dpportal.releases.products.shared.job_cost import LONG_LABEL, JobCost, label_bytes
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.protocol import Plan
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished

GB = 10**9


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every histogram had 10^8 cells."""

    def job_cost(plan: Plan, people: int | None) -> JobCost:
        return JobCost(seconds=300, memory=2 * GB, disk=5 * GB)

    monkeypatch.setattr(cost_estimate, "job_cost", job_cost)


class TestForesight:
    @pytest.mark.slow
    def test_it_is_said_beside_the_method_and_in_the_review(self, client, curator, draft, wide) -> None:
        client.force_login(curator)
        asked = {"mechanism": "laplace-histogram", "amount": "0.25"}
        offers = client.post(reverse("releases:offers", args=[draft.pk]), asked).content.decode()
        assert "about 5 minutes, 1.9\xa0GB of memory and 4.7\xa0GB of disk" in offers
        review = client.get(reverse("releases:review", args=[draft.pk])).content.decode()
        assert "about 5 minutes" in review and "1.9\xa0GB of memory, 4.7\xa0GB of disk" in review

    def test_a_small_machine_is_offered_nothing(self, draft, wide, monkeypatch) -> None:
        monkeypatch.setattr(memory_limits, "memory", lambda: GB)
        offers = drafts.offers(draft, Decimal("0.1"))
        refusals = {offer.refusal for offer in offers if "zCDP" not in offer.refusal}
        assert len(refusals) == 1 and "about 1.9\xa0GB of memory, and there are 953.7\xa0MB" in refusals.pop()

    def test_what_does_not_fit_cannot_be_confirmed(self, draft, wide, monkeypatch) -> None:
        version, plan = drafts.plan_of(draft)
        monkeypatch.setattr(memory_limits, "memory", lambda: GB)
        with pytest.raises(DraftError, match="of memory"):
            services.request_release(draft, reviewed=services.reviewed_as(version, plan), by=draft.created_by)
        draft.refresh_from_db()
        assert draft.is_draft and draft.charge is None

    def test_a_job_that_does_not_fit_now_spends_nothing(self, dataset, monkeypatch) -> None:
        release = building.requested_release(dataset)
        left = release.account.left
        monkeypatch.setattr(memory_limits, "free_memory", lambda: 0)
        monkeypatch.setattr(memory_limits, "own_memory", lambda: 0)
        execution.RELEASES.run(release.pk)
        release.refresh_from_db()
        assert (release.state, release.job.state) == (release.State.FAILED, JobState.FAILED)
        assert "of memory, and there are" in release.job.failure
        assert release.account.left == left + Decimal("0.1") and not release.measurement

    @pytest.mark.slow
    @pytest.mark.parametrize("mechanism", ["laplace-histogram", "privelet-histogram"])
    def test_disk_is_foreseen(self, dataset, mechanism: str) -> None:
        """Within a factor of two, by chance, of what a release takes: its download, and the counts behind it."""
        colour = Categorical("colour", values=("red", "green", "blue"))
        dataset_services.declare_all(dataset, [colour, Integer("age", lower=0, upper=19_999)])
        release = finished(dataset, "histogram", ["colour", "age"], "0.5", mechanism)
        taken = sum(artifact.size for artifact in release.artifacts.all())
        taken += sum(default_storage.size(name) for name in (release.measurement, release.true_counts))
        effort = cost_estimate.job_cost(confirmed_plan(release), building.ROWS)
        assert 1 / 2 < effort.disk / taken < 2

    def test_labels_of_long_columns_are_not_written_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        column = Integer("n", lower=0, upper=10**6)
        monkeypatch.setattr(Integer, "labels", lambda _: pytest.fail("a million labels were written"))
        assert label_bytes(Domain((column,))) == LONG_LABEL


@pytest.mark.parametrize(
    ("seconds", "memory", "disk", "much"),
    [
        (5, 320 * 2**20, 2**20, False),
        (61, 2**20, 2**20, True),
        (5, 2**31, 2**20, True),
        (5, 2**20, 2**31, True),
    ],
)
def test_work_is_told_where_it_is_much(seconds, memory, disk, much):
    assert JobCost(seconds, memory, disk).is_much is much
