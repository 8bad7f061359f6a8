"""A curator's last question before everyone may see a release, what its page says besides, and taking it back."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from dpportal.datasets.access import replaceable_datasets
from dpportal.publications.curator_pages import CuratorPages
from dpportal.publications.verdict import Verdict
from dpportal.releases import services
from dpportal.releases.access import release_for
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, planner_of, product_of
from dpportal.releases.services import ReleaseError


def _expected_verdict(release: Release) -> Verdict | None:
    return planner_of(release).verdict(confirmed_plan(release), release)


pages = CuratorPages(
    space="releases",
    home="job",
    own=release_for,
    replaceable=replaceable_datasets,
    verdict=_expected_verdict,
    readers_see=lambda release: product_of(release).readers_see,
    publish=services.publish,
    withdraw=services.withdraw,
    refusal=ReleaseError,
    too_early=_("Only a finished release can be published."),
    published=_("Published. Anyone with the address can see and download it."),
)
