"""Readers are warned of a release that is mostly noise: on its page, its card and in its report, whatever the data."""

from __future__ import annotations

import pytest
from django.test import Client

from dpportal.datasets.models import Dataset
from dpportal.publications.verdict import VerdictLevel
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan
from dpportal.releases.reader_warning import warned_level
from tests.dpportal.catalogue.test_thumbnails import PAGE, drawn
from tests.dpportal.releases.products.building import files, finished

USELESS = "Mostly noise, as was foreseen from its privacy cost"
ROUGH = "Rough, as was foreseen from its privacy cost"


@pytest.mark.slow
def test_a_useless_release_says_so_wherever_readers_meet_it(
    dataset: Dataset, client: Client, django_capture_on_commit_callbacks
) -> None:
    """The review called it useless, and its page looked like any other."""
    release = finished(dataset, "histogram", ["age", "colour"], "0.001", "laplace-histogram")
    with django_capture_on_commit_callbacks(execute=True):
        services.publish(release, dataset.owner)
    drawn()
    shown = {
        "page": client.get(release.get_absolute_url()).text,
        "card": client.get(PAGE).text,
        "report": files(release)["report.html"].decode(),
    }
    assert all(text.count(USELESS) == 1 for text in shown.values()), {
        n: t.count(USELESS) for n, t in shown.items()
    }


@pytest.mark.slow
def test_the_warning_follows_from_what_everybody_may_know(dataset: Dataset) -> None:
    """Neither the curator's number of people nor their purpose is in it; without a number nothing is said."""
    release = finished(dataset, "histogram", ["colour"], "0.9", "laplace-histogram", people=1)
    plan = confirmed_plan(release)
    levels = [
        warned_level(release, plan, {"finding": {"people": people}}) for people in (10**6, *range(60, -1, -1))
    ]
    assert sorted(set(levels)) == ["", VerdictLevel.DOUBTFUL, VerdictLevel.USELESS]
    assert (levels[0], levels[-1]) == ("", VerdictLevel.USELESS) and levels == sorted(levels)
    doubtful = {"finding": {"people": 61 - levels.index(VerdictLevel.DOUBTFUL)}}
    release.people, release.purpose = 10**9, Release.Purpose.RANGES
    assert warned_level(release, plan, doubtful) == VerdictLevel.DOUBTFUL
    assert warned_level(release, plan, {}) == ""
