"""Whoever left the office since a page was opened changes nothing more: asked where it is written, not before."""

from __future__ import annotations

import pytest

from dpportal.accounts.models import Role, User
from dpportal.budgets.models import LedgerEntry
from dpportal.releases import services as releases
from dpportal.releases.services import ReleaseError
from dpportal.streams import services as streams
from dpportal.streams.execution import PeriodRefusedError, Update, publish
from dpportal.streams.services import StreamError
from tests.dpportal import building
from tests.dpportal.streams import building as stream_building

pytestmark = pytest.mark.django_db
LEFT = {"demoted": {"role": Role.ANALYST}, "deactivated": {"is_active": False}}


@pytest.fixture(params=LEFT)
def leave(request, curator):
    """Takes the office away past the objects that the test holds, as another process would."""
    return lambda: User.objects.filter(pk=curator.pk).update(**LEFT[request.param])


@pytest.mark.slow
def test_no_release_is_confirmed_or_published(ready, leave):
    draft = building.complete_draft(ready.dataset)
    lines = LedgerEntry.objects.count()
    leave()
    with pytest.raises(ReleaseError, match="not a curator"):
        building.confirm(draft)
    with pytest.raises(ReleaseError, match="not a curator"):
        releases.publish(ready, by=ready.created_by)
    ready.refresh_from_db()
    assert (LedgerEntry.objects.count(), ready.published_at) == (lines, None)


def test_no_stream_is_confirmed_or_published_and_no_period(dataset, leave):
    stream = stream_building.open_stream(dataset)
    draft = stream_building.draft_stream(dataset)
    lines = LedgerEntry.objects.count()
    leave()
    with pytest.raises(StreamError, match="not a curator"):
        stream_building.confirm(draft)
    with pytest.raises(StreamError, match="not a curator"):
        streams.publish(stream, by=stream.created_by)
    with pytest.raises(PeriodRefusedError, match="not a curator"):
        publish(stream.pk, [Update(1, (5,), "typed")])
    stream.refresh_from_db()
    assert (LedgerEntry.objects.count(), stream.published_at, stream.periods.count()) == (lines, None, 0)
