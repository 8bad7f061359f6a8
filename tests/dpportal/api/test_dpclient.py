"""The client against the portal in the test's own process: what it reads, and how it says what is refused."""

from __future__ import annotations

import hashlib
import json
from uuid import uuid4

import httpx
import pandas as pd
import pytest
from django.core.wsgi import get_wsgi_application

from dpportal.api.dpclient import Portal, PortalError, read
from dpportal.api.dpclient.connection import Connection
from dpportal.api.dpclient.published import Files, _frame, _with_margin
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets.services import declare_all
from dpportal.releases import services
from dpportal.streams.job_execution import STREAM_JOBS
from mechanisms.domain import Categorical
from mechanisms.inert_text import inert
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.streams import building as streams

ADDRESS = "http://testserver"


@pytest.fixture
def transport() -> httpx.WSGITransport:
    return httpx.WSGITransport(app=get_wsgi_application())


@pytest.fixture
def portal(program, transport):
    with Portal(ADDRESS, program.text, transport=transport) as found:
        yield found


def test_a_public_release_is_read_by_its_address_alone(ready, transport):
    services.publish(ready, ready.created_by)
    found = read(f"{ADDRESS}{ready.get_absolute_url()}", transport=transport)
    counts = found.table()
    assert (found.title, found.facts["loss"], len(counts)) == ("Colours by age", "ε = 0.10", 40)
    assert (counts["margin"] == (counts["interval_upper"] - counts["interval_lower"]) / 2).all()
    assert set(found.table("synthetic.csv").columns) == {"colour", "age"}
    with pytest.raises(PortalError, match="There is no file 'poem"):
        found.table("poem.csv")


@pytest.mark.slow
def test_means_have_a_margin_each(dataset, transport):
    release = finished(
        dataset, "means", ["age"], "0.9", "bernstein-sums", measured=["age"], deviation=True, steps={}
    )
    services.publish(release, release.created_by)
    table = read(f"{ADDRESS}{release.get_absolute_url()}", transport=transport).table()
    for name in ("number", "total", "mean"):
        assert (table[name] + table[f"{name}_margin"] >= table[f"{name}_upper"] - 1e-9).all(), name
        assert (table[name] - table[f"{name}_margin"] <= table[f"{name}_lower"] + 1e-9).all(), name
    assert (table["mean_margin"] > 0).all()


def test_what_is_not_public_is_not_read(ready, transport):
    with pytest.raises(PortalError) as refused:
        read(f"{ADDRESS}{ready.get_absolute_url()}", transport=transport)
    assert refused.value.status == 404


@pytest.mark.parametrize("address", ["", "https://portal.example/datasets/", "/releases/1/"])
def test_another_address_is_refused_at_once(address):
    with pytest.raises(ValueError, match="not the address of a release"):
        read(address)


@pytest.mark.slow
def test_offers_draft_comparison_and_withdrawal(portal, dataset, ready):
    known = portal.dataset(str(dataset.pk))
    assert [found.id for found in portal.datasets()] == [known.id]
    offers = known.offers("histogram", {"columns": ["age"], "people": 300}, "0.5")
    assert offers["recommended"] in {offer["mechanism"] for offer in offers["offers"]}
    release = portal.release(str(ready.pk)).wait()
    assert len(release.comparison()) >= 30 and len(release.table()) == 40
    release.publish(all_the_same=True, doi="10.5281/zenodo.7").publish()
    with pytest.raises(PortalError, match="/details"):
        release.publish(doi="10.5281/zenodo.8")
    release.set_details(doi="10.5281/zenodo.8")
    assert portal.published(release.id).facts["doi"] == "10.5281/zenodo.8"
    assert [entry["id"] for entry in portal.search("colours")] == [release.id]
    release.withdraw("A mistake.")
    assert portal.search("colours") == []


@pytest.mark.slow
def test_a_refusal_is_an_exception_with_the_portal_s_sentence(portal, curator, dataset):
    draft = portal.release(str(building.complete_draft(dataset, "1.5").pk))
    with pytest.raises(PortalError, match="left") as refused:
        draft.spend()
    assert refused.value.status == 409
    with pytest.raises(PortalError) as wrong:
        portal.dataset(str(dataset.pk)).plan("poem", {}, {"mechanism": "", "amount": "1"})
    assert wrong.value.status == 422 and "product" in wrong.value.errors
    assert str(wrong.value) == f"product: {wrong.value.errors['product'][0]}"  # what a log of a script shows
    with pytest.raises(PortalError, match=r"API\.\nmethod\.mechanism: This is missing"):
        portal.dataset(str(dataset.pk)).plan("histogram", {"columns": ["age"]}, {"amount": "1"})


@pytest.mark.slow
def test_of_two_runs_at_once_both_have_what_one_has_paid_for(portal, dataset):
    """The other one confirmed the draft just before this one asked for its plan, which ended it in a traceback."""
    draft = building.complete_draft(dataset, "0.1")
    one, other = (portal.release(str(draft.pk)) for _ in range(2))
    key, charged = str(uuid4()), LedgerEntry.objects.count()
    one.spend(key=key)
    assert other.state == "draft"
    with pytest.raises(PortalError, match="already confirmed"):
        portal.release(str(draft.pk)).plan()
    assert other.spend(key=key).state == one.state == "requested"
    assert LedgerEntry.objects.count() == charged + 1


@pytest.mark.slow
def test_a_table_that_was_uploaded_before_is_named(portal, client, curator):
    client.force_login(curator)
    first, again = (building.uploaded(client, b"age\n1\n2\n", name=name) for name in ("Ages", "Once more"))
    twin = portal.dataset(str(again.pk))
    assert twin.facts["duplicate_of"] == str(first.pk)
    with pytest.raises(
        PortalError, match=r"uploaded before\. Its content is that of Ages\. Use that dataset"
    ):
        twin.wait()


@pytest.mark.parametrize(
    "text", ["n/a", "NA", "null", "None", "nan", "=1+1", "'=1+1", "@SUM(A1)", "-", "-1x", "'plain", "<b>"]
)
def test_a_text_is_read_as_it_was_published(text):
    """Against the guard that files are written with."""
    content = f"town,count\n{inert(text)},1\n,2\nBern,3\n".encode()
    frame = _frame(content)
    assert frame["town"].tolist()[0] == text and frame["town"].isna().tolist() == [False, True, False]


def listing(*files: tuple[str, bytes]) -> Files:
    """Files of a bundle at a portal that has nothing else."""

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=dict(files)[request.url.path[1:]])

    listed = [
        {"name": name, "address": f"/{name}", "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files
    ]
    return Files(Connection(ADDRESS, transport=httpx.MockTransport(answer)), listed)


@pytest.mark.slow
def test_codes_that_were_declared_as_texts_stay_texts(client, curator, administrator, transport):
    client.force_login(curator)
    dataset = building.uploaded(client, b"zip\n" + b"00501\n00544\n" * 20)
    declare_all(dataset, [Categorical("zip", values=("00501", "00544"))])
    building.granted(dataset, administrator)
    release = finished(dataset, "histogram", ["zip"], "0.5", "laplace-histogram", people=40)
    services.publish(release, release.created_by)
    found = read(f"{ADDRESS}{release.get_absolute_url()}", transport=transport)
    for name in ("histogram.csv", "synthetic.csv"):
        assert {"00501", "00544"} <= set(found.table(name)["zip"]) <= {"00501", "00544", "Other"}, name
    assert found.table()["margin"].dtype.kind in "if"


def test_codes_are_read_as_the_package_has_them():
    fields = [{"name": "zip", "type": "string"}, {"name": "n", "type": "integer"}]
    package = {"resources": [{"path": "counts.csv", "schema": {"fields": fields}}]}
    content = b"zip,n\n00501,1\n,2\n'-5,3\n"
    described = listing(("counts.csv", content), ("datapackage.json", json.dumps(package).encode()))
    table = described.table()
    assert table["zip"].tolist()[0] == "00501" and table["zip"].isna().tolist() == [False, True, False]
    assert table["n"].tolist() == [1, 2, 3]
    assert listing(("counts.csv", b"zip,n\n00501,1\n")).table()["zip"].tolist() == [501]


def test_what_is_no_table_is_named_with_those_that_are():
    found = listing(("counts.csv", b"n\n1\n"), ("release.xlsx", b"PK"), ("README.md", b"#"))
    for name in ("release.xlsx", "README.md"):
        with pytest.raises(PortalError, match=rf"read\('{name}'\) gives its bytes. Tables are: counts.csv\."):
            found.table(name)
    assert found.read("release.xlsx") == b"PK"


def test_a_margin_reaches_to_the_farther_end_of_its_interval():
    """Estimates are moved to where they are possible, and not to the middle of their intervals."""
    frame = _frame(
        b"margin,noisy_count,interval_lower,interval_upper,mean,mean_lower,mean_upper\na,0,0,7,3,-1,4\nb,5,2,8,,,\n"
    )
    told = _with_margin(frame)
    assert told["margin_95"].tolist() == [7, 3] and told["margin"].tolist() == ["a", "b"]
    assert told["mean_margin"][0] == 4 and pd.isna(told["mean_margin"][1])


def test_negative_codes_are_read_as_they_stand():
    assert _frame(b"code,count\n-1,1\n-2,2\n")["code"].tolist() == [-1, -2]


def test_a_request_is_sent_again_when_the_portal_says_so():
    answers = iter(
        [httpx.Response(429, headers={"Retry-After": "0"}), httpx.Response(200, json=[{"name": "x"}])]
    )
    portal = Portal(ADDRESS, transport=httpx.MockTransport(lambda _request: next(answers)))
    assert portal.products() == [{"name": "x"}]


def test_the_files_of_the_newest_period_are_waited_for(monkeypatch):
    monkeypatch.setattr("dpportal.api.dpclient.published.time.sleep", lambda _seconds: None)
    told = [{"title": "Visits", "files": [], "files_to_come": to_come} for to_come in (True, True, False)]
    answers = iter(httpx.Response(200, json=facts) for facts in told)
    portal = Portal(ADDRESS, transport=httpx.MockTransport(lambda _request: next(answers)))
    assert not portal.published("an-id").facts["files_to_come"]


def test_periods_of_a_frame_are_previewed_published_and_compared(portal, dataset):
    stream = streams.open_stream(dataset)
    count = portal.running_count(str(stream.pk))
    assert [(known.id, known.state) for known in portal.running_counts()] == [(count.id, "open")]
    periods = pd.DataFrame({"period": [1, 2], "count": [5, 3]})
    key = "5f0c6f0e-6a51-4d0e-9d4f-0d6f7c1b2a3e"
    file = count.send_periods(periods, key=key)
    STREAM_JOBS.run(file.id)
    assert file.wait().preview["new"] == 2
    file.confirm()
    STREAM_JOBS.run(file.id)
    assert file.wait().preview is None and count.send_periods(periods, key=key).id == file.id
    compared = count.comparison()
    assert list(compared["true"]) == [8, 5] and compared.attrs["unit"]
    with pytest.raises(PortalError, match="nothing to stop"):
        file.stop()
    with pytest.raises(PortalError) as refused:
        count.send_periods("period,count\n3,many\n")
    assert set(refused.value.errors) == {"lines"}
    other = count.send_periods("period,count\n3,1\n")
    STREAM_JOBS.run(other.id)
    other.wait().drop()
    with pytest.raises(PortalError, match="cancelled"):
        other.wait()


def test_a_dataset_is_described_for_everyone(portal, dataset):
    known = portal.dataset(str(dataset.pk))
    known.describe(text="Children.", licence="CC-BY-4.0")
    assert known.describe(shown=True)["licence"] == "CC-BY-4.0"
    with pytest.raises(PortalError) as refused:
        known.describe(licence="mine")
    assert set(refused.value.errors) == {"licence"}


def test_what_is_refused_is_in_the_language_of_the_client(program, dataset, transport):
    with (
        Portal(ADDRESS, program.text, language="zh-hans", transport=transport) as portal,
        pytest.raises(PortalError, match="令牌"),
    ):
        portal.dataset("5f0c6f0e-6a51-4d0e-9d4f-0d6f7c1b2a3e")
