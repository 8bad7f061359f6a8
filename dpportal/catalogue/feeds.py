"""What was published lately, as an Atom feed for readers and programs that look for news."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.syndication.views import Feed
from django.urls import reverse_lazy
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import conditional_page, require_safe

from dpportal.accounts import audit
from dpportal.catalogue import snapshot
from dpportal.catalogue.entries import Entry, loaded

MOST = 50


@dataclass(frozen=True)
class FeedEntry:
    """A publication with the moment of its last change that readers see: a name of its own, or of its dataset."""

    listed: Entry
    updated_at: datetime


class Newest(Feed[FeedEntry, None]):
    """The newest releases and running counts; one that is withdrawn is in it no more."""

    feed_type = Atom1Feed
    title = _("Published with differential privacy")
    subtitle = _("Releases, synthetic tables and running counts, newest first.")
    link = reverse_lazy("catalogue")

    def items(self) -> list[FeedEntry]:
        return list(_dated(loaded(snapshot.current().entries[:MOST], with_pictures=False)))

    def item_title(self, item: FeedEntry) -> str:
        return _printable(str(item.listed.it))

    def item_description(self, item: FeedEntry) -> str:
        # A summary is markup to readers of the feed, unlike a title.
        listed = item.listed
        return escape(_printable(f"{listed.kind}: {listed.it.dataset.name}, {listed.loss}"))

    def item_link(self, item: FeedEntry) -> str:
        return item.listed.it.get_absolute_url()

    def item_author_name(self, item: FeedEntry) -> str:
        return _printable(item.listed.it.created_by.public_name)

    def item_pubdate(self, item: FeedEntry) -> datetime | None:
        return item.listed.it.published_at

    def item_updateddate(self, item: FeedEntry) -> datetime:
        return item.updated_at


newest = require_safe(conditional_page(Newest()))


def _dated(entries: Sequence[Entry]) -> Iterator[FeedEntry]:
    """A program that has an entry takes it again only if its date has moved."""
    named = [subject for entry in entries for subject in (entry.it, entry.it.dataset)]
    renamed = audit.newest("renamed", named)
    for entry in entries:
        moments = (entry.it.published_at, renamed.get(entry.it), renamed.get(entry.it.dataset))
        yield FeedEntry(entry, max(filter(None, moments)))


def _printable(text: str) -> str:
    """Without signs that XML cannot hold, as text that is pasted from elsewhere may have them."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", " ", text)
