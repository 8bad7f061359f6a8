"""The client does with a dataset, a draft and a running count what a curator does on their pages."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from django.core.wsgi import get_wsgi_application
from django.utils import timezone

from dpportal.api.dpclient import Portal, PortalError
from dpportal.datasets.models import Dataset
from dpportal.datasets.services import declare_unit
from dpportal.releases.execution import RELEASES
from dpportal.streams.downloads import DOWNLOADS
from dpportal.streams.job_execution import STREAM_JOBS
from dpportal.streams.models import StreamJob
from tests.dpportal import building

ADDRESS = "http://testserver"
CHOICES = {"columns": ["colour"], "people": 100}
METHOD = {"mechanism": "laplace-histogram", "amount": "0.1"}


@pytest.fixture
def portal(program):
    with Portal(ADDRESS, program.text, transport=httpx.WSGITransport(app=get_wsgi_application())) as found:
        yield found


@pytest.fixture
def known(portal, dataset):
    """The small table, as the client has it."""
    return portal.dataset(str(dataset.pk))


def test_a_declaration_of_columns_leaves_who_is_protected(dataset, known):
    declare_unit(dataset, neighbours="replace-one", unit_column="age", max_rows=3, ignore_case=True)
    protected = known.declaration()["unit"]
    assert known.declare({"colour": ["red", "green"]})["unit"] == protected
    assert protected == {
        "neighbours": "replace-one",
        "unit_column": "age",
        "max_rows": 3,
        "ignore_case": True,
    }
    assert known.declare({}, unit={})["unit"]["max_rows"] == 1


def test_who_is_protected_is_said_once_before_anything_is_drafted(dataset, known):
    Dataset.objects.filter(pk=dataset.pk).update(unit_declared=False)
    known.declare({"colour": ["red", "green"]})
    with pytest.raises(PortalError, match="Say first whether each row is one person"):
        known.draft("histogram", CHOICES, METHOD)
    known.declare({}, unit={"neighbours": "add-remove"})
    assert known.draft("histogram", CHOICES, METHOD).state == "draft"


def test_it_is_renamed_described_and_shared(known, other_curator):
    assert known.rename("Colours", description="Own words")["name"] == "Colours"
    assert known.rename(description="")["name"] == "Colours"
    known.describe(text="Children.", licence="CC-BY-4.0")
    assert (known.description()["text"], known.description()["licence"]) == ("Children.", "CC-BY-4.0")
    given = known.share(other_curator.username, 2)
    assert known.shares() == [given] and given["right"] == 2
    known.take_back(given["id"])
    assert known.shares() == []
    with pytest.raises(PortalError, match="No curator of this portal"):
        known.share("nobody.at.all", 1)


def test_columns_are_copied_made_coarser_and_given_a_map(portal, known, curator):
    other = portal.dataset(str(building.stored_dataset(curator, "Another").pk))
    known.declare({"colour": ["red", "green", "blue"]})
    assert other.copy_declaration(known.id)["columns"]["colour"] == known.declaration()["columns"]["colour"]
    assert other.declare_coarser("age", "old", edges=[0, 50, 99])["version"]
    other.drop_coarser("old")
    with pytest.raises(PortalError, match="no such coarser column"):
        other.drop_coarser("old")
    square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
    area = {"type": "Feature", "properties": {"name": "red"}, "geometry": square}
    taken = known.declare_areas("colour", {"type": "FeatureCollection", "features": [area]}, credit="Own")
    assert (taken["known"], taken["lacking"]) == (1, ["green", "blue"])
    known.drop_areas("colour")


def test_its_file_its_rows_and_the_end_of_them(portal, client, curator):
    client.force_login(curator)
    known = portal.dataset(str(building.uploaded(client, b"age,sex\n1,f\n2,m\n", name="Two").pk))
    assert known.reading()["can_change"] and known.rows(1).values.tolist() == [["1", "f"]]
    with pytest.raises(PortalError, match="nothing to cancel"):
        known.cancel_reading()
    day = timezone.localdate() + timedelta(days=30)
    assert known.erase_on(day)["day"] == day.isoformat() and known.erase_on(None)["day"] is None
    with pytest.raises(PortalError):
        known.remove()
    assert known.erase()["state"] == "erased" and known.erasure()["receipt"]


@pytest.mark.slow
def test_a_draft_is_changed_copied_cancelled_and_discarded(portal, known, dataset):
    release = portal.release(str(building.complete_draft(dataset, "0.1").pk))
    assert release.choose(title="Ages").facts["title"] == "Ages"
    copy = release.again()
    assert {found.id for found in portal.releases(known.id)} == {release.id, copy.id}
    copy.discard()
    assert [found.id for found in portal.releases()] == [release.id]
    release.spend().cancel()
    assert release.state == "cancelled"
    with pytest.raises(PortalError, match="nothing to resume"):
        release.resume()
    RELEASES.run(release.id)
    assert portal.release(release.id).state == "cancelled"


@pytest.mark.slow
def test_a_running_count_is_drafted_opened_fed_published_and_closed(portal, known):
    said = {"step": "next", "horizon": 8}
    draft = known.draft_running_count("Visits", amount="0.2", key=str(uuid4()), **said)
    draft.again().discard()
    key = str(uuid4())
    assert draft.open(key=key).open(key=key).state == "opening"
    STREAM_JOBS.run(StreamJob.objects.get().pk)
    count, token = draft.wait(), draft.renew_token()
    period = count.add_period(1, 12, token=token, key=str(uuid4()))
    assert period["period"] == 1 and count.add_period(1, 9, token=token, key=str(uuid4())) == period
    clipped = [count.add_period(2, 10**30, token=token, key=str(uuid4()))["clipped"] for _again in range(2)]
    assert (period["clipped"], clipped) == (0, [1, 0])
    with pytest.raises(PortalError, match="Period 3 is due next"):
        count.add_period(5, 12, token=token, key=str(uuid4()))
    with pytest.raises(PortalError, match=r"of any use\. Tick the box .* “all_the_same”"):
        count.publish()
    count.set_details(doi="10.5281/zenodo.7").publish(all_the_same=True)
    early = portal.published(count.id, seconds=0)
    assert (early.facts["doi"], early.facts["files_to_come"], early.listed) == ("10.5281/zenodo.7", True, {})
    DOWNLOADS.run(count.id)
    assert len(portal.published(count.id).table()) == 2
    assert count.withdraw("A mistake.").close().state == "closed"


def test_people_whom_their_curator_counts_need_no_table(portal):
    counted = portal.begin_counted("Clinic", column="site", values=["A", "B"])
    assert counted.facts["columns"] == ["site"] and portal.offered_tables() == []
    with pytest.raises(PortalError) as refused:
        portal.connect_table(1)
    assert set(refused.value.errors) == {"table"}


def test_any_other_request_is_sent_as_the_description_has_it(portal, monkeypatch):
    """The README's example."""
    blocks = re.findall(r"```python\n(.*?)```", Path("dpportal/api/README.md").read_text(), re.S)
    [example] = [text for text in blocks if "portal.request" in text]
    for name, value in {"PORTAL": ADDRESS, "TOKEN": "", "HOOK": "https://hooks.example/x"}.items():
        monkeypatch.setenv(name, value)
    names = {"Portal": lambda _address, _token: portal}
    with pytest.raises(PortalError, match="administrator"):
        exec(compile(example.replace("from dpclient import Portal", ""), "README.md", "exec"), names)
