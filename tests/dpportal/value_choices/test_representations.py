"""Whatever names the cost of a publication names that of the private choice of values that it rests on, and its δ."""

from __future__ import annotations

import io
import json
import re
import zipfile
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dpportal.budgets import ledger
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.datasets import services as datasets
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan
from dpportal.streams import execution, services as stream_services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from dpportal.value_choices import services as value_choices
from dpportal.value_choices.disclosure import PublishedLoss, losses_of
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.streams import building as streams

DELTA = Decimal("0.0000001")
# What the choice cost, and what each publication does.
CHOSEN, OWN = Decimal("0.3"), Decimal("0.2")
LOSS = re.compile("([ερ]) = [0-9]")
# Of these files, and of all that a page or an address gives, each names the cost.
TELLING = {"README.md", "report.html", "release.json", "datapackage.json", "croissant.json"}
OF_SUMMARY = {"table1.html", "table1.tex"}


@pytest.fixture(params=["pure", "zcdp"])
def chosen(request, curator, administrator):
    """The small table, whose colours were chosen privately."""
    dataset = building.stored_dataset(curator)
    terms = ledger.GrantTerms(delta=2 * DELTA)
    ledger.grant(dataset, Decimal(1), definition=request.param, reason="x", by=administrator, terms=terms)
    CHOICES.run(requested(dataset).pk)
    return dataset


def requested(dataset):
    plan = value_choices.plan_of(dataset, CHOSEN, DELTA)
    reviewed = value_choices.reviewed_as(dataset, "colour", plan)
    return value_choices.request(dataset, "colour", plan, reviewed=reviewed, by=dataset.owner)


def released(dataset, product: str) -> Release:
    is_pure = dataset.budgets.get().definition == "pure"
    plain = "laplace-histogram" if is_pure else "gaussian-histogram"
    mechanism = {"histogram": plain, "summary": "column-tables"}[product]
    parameters = {"histogram": {"within_bins": "smooth"}, "summary": {"group": "colour", "twice": []}}[
        product
    ]
    release = finished(dataset, product, ["colour", "age"], str(OWN), mechanism, **parameters)
    services.publish(release, release.created_by)
    release.refresh_from_db()
    return release


def opened(dataset) -> Stream:
    stream = streams.open_stream(dataset, amount=OWN)
    execution.publish(stream.pk, [Update(1, (30,), Period.Source.TYPED)])
    stream_services.publish(stream, stream.created_by)
    streams.with_files(stream)
    stream.refresh_from_db()
    return stream


def published(dataset, kind: str) -> ChargedPublication:
    return opened(dataset) if kind == "streams" else released(dataset, kind)


def read(text: str) -> str:
    """As a reader has it: without tags, escapes or line breaks; LaTeX and JSON as texts."""
    if text.startswith(("{", "[")):
        text = json.dumps(json.loads(text), ensure_ascii=False)
    for sign, written in {"ε": r"$\varepsilon$", "ρ": r"$\rho$", "δ": r"$\delta$"}.items():
        text = text.replace(written, sign)
    text = text.replace(r"\textsuperscript{--}\textsuperscript{7}", "⁻⁷")
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def representations(client: Client, publication: ChargedPublication) -> dict[str, str]:
    """All that strangers can have of it, by name."""
    space = publication._meta.app_label
    page = publication.get_absolute_url()

    def at(name: str, *further: str) -> str:
        return reverse(f"{space}:{name}", args=[publication.pk, *further])

    charts = client.get("/published/oembed", {"url": f"http://testserver{page}"}).json()["html"]
    frame = re.search('src="http://testserver([^"]+)"', charts)
    assert frame
    chart = frame[1].rstrip("/").rpartition("/")[2]
    addresses = {
        "page": page,
        "frame": frame[1],
        "picture": at("chart", chart, "svg"),
        "bib": at("cite", "bib"),
        "ris": at("cite", "ris"),
        "datacite": at("cite", "datacite"),
        "croissant": at("croissant"),
        "api": f"/api/v1/catalogue/{publication.pk}",
        "api list": "/api/v1/catalogue",
        "catalogue": reverse("catalogue"),
        "dataset": reverse("public_dataset", args=[publication.dataset_id]),
        "feed": "/published/feed.atom",
        "dcat": "/published/catalog.jsonld",
    }
    texts = {name: client.get(address) for name, address in addresses.items()}
    texts["linked data"] = client.get(page, headers={"accept": "application/ld+json"})
    texts["json"] = client.get(page, headers={"accept": "application/json"})
    assert {name: answer.status_code for name, answer in texts.items()} == dict.fromkeys(texts, 200)
    return {name: read(content_of(answer).decode()) for name, answer in texts.items()}


def content_of(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def bundle_of(client: Client, publication: ChargedPublication) -> bytes:
    kind = "stream" if isinstance(publication, Stream) else "release"
    space, name = publication._meta.app_label, f"{kind}-{publication.pk}.zip"
    return content_of(client.get(reverse(f"{space}:download", args=[publication.pk, name])))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["histogram", "summary", "streams"])
def test_all_that_names_the_cost_names_the_choice_and_its_delta(chosen, client, kind, tmp_path):
    publication = published(chosen, kind)
    loss = PublishedLoss.of(publication)
    symbol = loss.total.symbol
    total, of_choice = f"{symbol} = 0.50, δ = 10⁻⁷", f"{symbol} = 0.30, δ = 10⁻⁷"
    assert str(loss) == f"{total}, of which {of_choice} for values chosen privately"
    told = representations(client, publication)
    bundle = bundle_of(client, publication)
    archive = zipfile.ZipFile(io.BytesIO(bundle))
    files = {name.rpartition("/")[2]: name for name in archive.namelist()}
    texts = {
        name: archive.read(path) for name, path in files.items() if not name.endswith((".npy", ".parquet"))
    }
    told |= {name: read(content.decode(errors="replace")) for name, content in texts.items()}
    named = {name for name, text in told.items() if LOSS.search(text)}
    expected = {name for name in told if name not in files} | TELLING
    assert expected | (OF_SUMMARY if kind == "summary" else set()) <= named
    assert [name for name in named if total not in told[name] or of_choice not in told[name]] == []
    assert 'facts.get("loss"' in told["notebook.py"]
    path = tmp_path / "bundle.zip"
    path.write_bytes(bundle)
    assert [f for f in verify(Bundle.read(path)) if f.state in (State.FAILED, State.NOT_CHECKED)] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["histogram", "streams"])
def test_what_was_withdrawn_names_them_still(chosen, client, kind):
    publication = published(chosen, kind)
    of = stream_services if kind == "streams" else services
    of.withdraw(publication, publication.created_by, "")
    for address in (publication.get_absolute_url(), reverse("public_dataset", args=[chosen.pk])):
        assert str(PublishedLoss.of(publication)) in read(client.get(address).text)


@pytest.mark.slow
def test_values_that_were_chosen_twice_have_one_sentence(chosen, client, tmp_path):
    CHOICES.run(requested(chosen).pk)
    publication = published(chosen, "histogram")
    symbol = PublishedLoss.of(publication).total.symbol
    sentence = (
        f"Values of “colour” were chosen privately twice, each time at {symbol} = 0.30, δ = 10⁻⁷ besides."
    )
    [statement, together] = PublishedLoss.of(publication).sentences()
    assert statement == sentence and together == f"Together that is {symbol} = 0.80, δ = 2 × 10⁻⁷."
    page = read(client.get(publication.get_absolute_url()).text)
    # The declaration says where its values are from, and leads to the statement.
    assert page.count(sentence) == page.count("were chosen privately (see the privacy statement)") == 1
    assert page.count("were chosen privately") == 2
    path = tmp_path / "bundle.zip"
    path.write_bytes(bundle_of(client, publication))
    assert [f for f in verify(Bundle.read(path)) if f.state in (State.FAILED, State.NOT_CHECKED)] == []


def test_a_choice_after_the_confirmation_is_none_of_the_publications(chosen):
    draft = building.requested_release(chosen, str(OWN))
    before = PublishedLoss.of(draft)
    CHOICES.run(requested(chosen).pk)
    assert len(before.choices) == 1 and str(PublishedLoss.of(draft)) == str(before)


def test_a_worker_whose_clock_is_ahead_hides_no_cost(chosen):
    """The choice was paid for before, and the release has its values."""
    release = released(chosen, "histogram")
    assert release.requested_at is not None
    ValueChoice.objects.update(measured_at=release.requested_at + timedelta(seconds=20))
    assert len(PublishedLoss.of(release).choices) == 1


def test_a_draft_says_what_its_values_cost_before_it_is_confirmed(chosen, client):
    """Of a release as of a running count."""
    client.force_login(chosen.owner)
    release, stream = building.complete_draft(chosen), streams.draft_stream(chosen, amount=OWN)
    if chosen.budgets.get().definition == "zcdp":
        Release.objects.update(mechanism="gaussian-histogram")
    for address in (
        reverse("releases:review", args=[release.pk]),
        reverse("streams:review", args=[stream.pk]),
    ):
        assert "Values of “colour” were chosen privately, at" in read(client.get(address).text)


def test_a_list_of_them_takes_as_many_queries_as_one(chosen):
    for _number in range(3):
        building.requested_release(chosen, "0.1")

    def queries(most: int) -> int:
        rows = list(Release.objects.select_related("charge__budget")[:most])
        with CaptureQueriesContext(connection) as made:
            losses = losses_of(rows)
        assert len(losses) == most and all(loss.choices for loss in losses.values())
        return len(made)

    assert queries(1) == queries(3)


def test_the_cost_is_the_plans_where_nothing_was_chosen(dataset):
    release = building.requested_release(dataset, str(OWN))
    loss = PublishedLoss.of(release)
    assert str(loss) == str(confirmed_plan(release).loss) == "ε = 0.20"
    assert (loss.sentences(), loss.facts(), loss.pair()) == ([], {}, "")


def test_what_another_budget_paid_for_values_is_said_and_not_added(chosen, administrator):
    """Costs under different promises protect different people."""
    datasets.declare_unit(chosen, neighbours="replace-one", unit_column="", max_rows=1)
    building.granted(chosen, administrator, knowing=True)
    release = building.requested_release(chosen, str(OWN))
    loss = PublishedLoss.of(release)
    symbol = loss.choices[0].loss.symbol
    other = f"{symbol} = 0.30, δ = 10⁻⁷ of another budget for values chosen privately"
    assert (str(loss), str(loss.total)) == (f"ε = 0.20, and {other}", "ε = 0.20")
