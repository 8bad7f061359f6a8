"""A curator's last question before everyone may see a running count, what its page says besides, and taking it back."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from dpportal.datasets.access import replaceable_datasets
from dpportal.publications.curator_pages import CuratorPages
from dpportal.streams import services, strategy_page
from dpportal.streams.access import stream_for
from dpportal.streams.services import StreamError

pages = CuratorPages(
    space="streams",
    home="home",
    own=stream_for,
    replaceable=replaceable_datasets,
    verdict=strategy_page.expected_of,
    readers_see=lambda stream: _("the noisy running count, and each new period at once"),
    publish=services.publish,
    withdraw=services.withdraw,
    refusal=StreamError,
    too_early=_("Only a running count that was opened can be published."),
    published=_("Published. Anyone with the address sees the series, and each new period at once."),
)
