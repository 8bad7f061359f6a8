"""Added periods, as an event for whoever may see their dataset."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.notices.announcing import announce
from dpportal.notices.events import Event, EventKind
from dpportal.platform.stored_texts import in_site_language
from dpportal.streams.models import Period, Stream


@in_site_language
def announce_periods(stream: Stream, periods: Sequence[Period]) -> None:
    """Have it heard that these were added, in the transaction that stores them. No count is said."""
    first, last = periods[0].index, periods[-1].index
    ids = {"dataset": str(stream.dataset_id), "stream": str(stream.pk)}
    one = _("The period %(last)s was added to “%(name)s”.")
    several = _("The periods %(first)s to %(last)s were added to “%(name)s”.")
    text = one if first == last else several
    name = stream.calendar.name
    sentence = text % {"first": name(first), "last": name(last), "name": stream.name}
    event = Event(
        EventKind.PERIOD,
        {**ids, "first": first, "last": last},
        stream.get_absolute_url(),
        _("A running count has grown"),
        sentence,
    )
    announce(event, _seers(stream))


def _seers(stream: Stream) -> list[User]:
    """The owner of the dataset, and those with whom it is shared."""
    dataset = stream.dataset
    return list(User.objects.filter(Q(pk=dataset.owner_id) | Q(pk__in=dataset.shares.values("person"))))
