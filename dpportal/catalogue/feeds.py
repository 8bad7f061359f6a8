"""What was published lately, as an Atom feed for readers and programs that look for news."""

from __future__ import annotations

import re
from datetime import datetime

from django.contrib.syndication.views import Feed
from django.urls import reverse_lazy
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import conditional_page, require_safe

from dpportal.catalogue import snapshot
from dpportal.catalogue.entries import Entry, loaded

MOST = 50


class Newest(Feed[Entry, None]):
    """The newest releases and running counts; one that is withdrawn is in it no more."""

    feed_type = Atom1Feed
    title = _("Published with differential privacy")
    subtitle = _("Releases, synthetic tables and running counts, newest first.")
    link = reverse_lazy("catalogue")

    def items(self) -> list[Entry]:
        return loaded(snapshot.current().entries[:MOST], with_pictures=False)

    def item_title(self, item: Entry) -> str:
        return _printable(str(item.it))

    def item_description(self, item: Entry) -> str:
        # A summary is markup to readers of the feed, unlike a title.
        return escape(_printable(f"{item.kind}: {item.it.dataset.name}, {item.loss}"))

    def item_link(self, item: Entry) -> str:
        return item.it.get_absolute_url()

    def item_author_name(self, item: Entry) -> str:
        return _printable(item.it.created_by.public_name)

    def item_pubdate(self, item: Entry) -> datetime | None:
        return item.it.published_at

    def item_updateddate(self, item: Entry) -> datetime | None:
        return item.it.published_at


newest = require_safe(conditional_page(Newest()))


def _printable(text: str) -> str:
    """Without signs that XML cannot hold, as text that is pasted from elsewhere may have them."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", " ", text)
