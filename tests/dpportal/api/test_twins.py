"""Acts of the wizards and their twins in the API refuse alike: with the same sentences."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.streams.job_execution import STREAM_JOBS
from dpportal.streams.models import StreamJob
from tests.dpportal import building
from tests.dpportal.api.calling import Program
from tests.dpportal.streams import building as streams


def page_says(client, address: str, sent: dict[str, object]) -> str:
    """What the page answers, or the message that it leaves."""
    answer = client.post(address, sent)
    return unescape(answer.content.decode()) + " ".join(str(m) for m in get_messages(answer.wsgi_request))


def of_release(name: str, release: Release) -> str:
    return reverse(f"releases:{name}", args=[release.pk])


@pytest.mark.parametrize(("step", "bins"), [("0.1", 90), ("2.25", 4), ("2", None), ("-1", None)])
def test_decimals_with_a_step_are_declared_alike(client, program, dataset, step, bins):
    """In a codebook that a browser brings, and by a program; a step that ends before the upper bound is refused."""
    address = f"/datasets/{dataset.pk}/declaration"
    decimals = {"kind": "real", "lower": 0, "upper": 9, "step": float(step)}
    answer = program.said("put", address, {"columns": {"age": decimals}}, 200 if bins else 422)
    first = dataset.current_domain()
    book = SimpleUploadedFile(
        "book.csv", f"column,value,kind,lower,upper,step\nage,,real,0,9,{step}\n".encode()
    )
    client.force_login(dataset.owner)
    page = page_says(client, reverse("datasets:codebook", args=[dataset.pk]), {"codebook": book})
    if bins:
        assert answer["columns"]["age"]["bins"] == bins
        assert dataset.current_domain() == first
        # The step in which a release adds them up is one of its own.
        means = {"columns": ["age"], "groups": [], "deviation": True, "people": 300}
        method = {"mechanism": "bernstein-sums", "amount": "0.5"}
        for own, status in (("0.5", 200), ("10", 422)):
            sent = {"product": "means", "choices": {**means, "step-0": own}, "method": method}
            program.said("post", f"/datasets/{dataset.pk}/plans", sent, status)
    else:
        [[text]] = answer["errors"].values()
        assert "“step” of “age” must be" in text and text in page


CHOSEN = {"columns": ["colour", "age"], "people": "300"}


@pytest.mark.parametrize(
    ("step", "sent", "said"),
    [
        ("product", {"product": "poem"}, {"product": "poem"}),
        ("columns", {"columns": [], "people": "300"}, {"choices": {"columns": [], "people": 300}}),
        ("columns", {**CHOSEN, "people": "0"}, {"choices": {**CHOSEN, "people": 0}}),
        (
            "method",
            {"mechanism": "guess", "amount": "0.1"},
            {"method": {"mechanism": "guess", "amount": "0.1"}},
        ),
        (
            "method",
            {"mechanism": "laplace-histogram", "amount": "1e3"},
            {"method": {"mechanism": "laplace-histogram", "amount": "1e3"}},
        ),
        (
            "method",
            {"mechanism": "laplace-histogram", "amount": "0.1", "counted_in": "zcdp"},
            {"method": {"mechanism": "laplace-histogram", "amount": "0.1", "counted_in": "zcdp"}},
        ),
    ],
)
def test_what_a_step_refuses_a_program_is_refused(client, program, draft, step, sent, said):
    client.force_login(draft.created_by)
    answer = program.said("patch", f"/releases/{draft.pk}", said, 422)
    page = page_says(client, of_release(step, draft), sent)
    for text in (text for texts in answer["errors"].values() for text in texts):
        assert text in page, text


@pytest.mark.parametrize(
    "cost", [{"amount": "0,5,0"}, {"delta": "1"}, {"amount": "0.000001", "delta": "1e-15"}]
)
def test_a_cost_of_values_that_the_page_refuses_a_program_is_refused(client, program, dataset, cost):
    """Also one at which no number of people would be enough."""
    client.force_login(dataset.owner)
    wanted = {"amount": "0.5", "delta": "0.0000001", **cost}
    answer = program.send("post", f"/datasets/{dataset.pk}/values/plan", {"column": "colour", **wanted})
    assert answer.status_code in (409, 422)
    page = client.get(reverse("values:choose", args=[dataset.pk, 0]), wanted)
    assert page.status_code == 422
    texts = [text for texts in answer.json().get("errors", {}).values() for text in texts]
    assert all(text in unescape(page.text) for text in texts or [answer.json()["detail"]])


def spent(program, release, **said):
    plan = program.said("get", f"/releases/{release.pk}/plan")
    confirmed = {"reviewed": plan["reviewed"], "agreed": True, **said}
    return program.send("post", f"/releases/{release.pk}/spend", confirmed)


@pytest.mark.parametrize(("said", "status"), [({"agreed": False}, 422), ({"reviewed": "another"}, 409)])
def test_an_answer_before_spending_is_refused_alike(client, program, draft, said, status):
    client.force_login(draft.created_by)
    answer = spent(program, draft, **said)
    sent = {
        "reviewed": said.get("reviewed", ""),
        **({} if "agreed" in said else {"agreed": "on", "useless": "on"}),
    }
    assert answer.status_code == status
    assert answer.json()["detail"] in page_says(client, of_release("review", draft), sent)
    assert Release.objects.get().is_draft


def test_more_than_is_left_is_refused_alike(client, curator, dataset):
    draft, program = building.complete_draft(dataset, "1.5"), Program(curator, limit="9")
    client.force_login(curator)
    answer = spent(program, draft)
    page = client.get(of_release("review", draft)).context["form"].initial["reviewed"]
    assert answer.status_code == 409
    sent = {"reviewed": page, "agreed": "on", "useless": "on"}
    assert answer.json()["detail"] in page_says(client, of_release("review", draft), sent)


@pytest.mark.parametrize(
    ("act", "page", "method", "path"),
    [
        ("cancel", "cancel", "post", "/cancel"),
        ("resume", "resume", "post", "/resume"),
        ("publish", "publish", "post", "/publish"),
        ("withdraw", "withdraw", "post", "/withdraw"),
        ("compare", "compare", "get", "/comparison"),
        ("discard", "discard", "delete", ""),
    ],
)
def test_what_cannot_be_done_to_a_release_now_is_refused_alike(
    client, program, dataset, act, page, method, path
):
    """A draft is not cancelled, a release that is at work neither published nor deleted."""
    is_draft = act in ("cancel", "resume")
    release = building.complete_draft(dataset) if is_draft else building.requested_release(dataset)
    client.force_login(dataset.owner)
    answer = program.send(method, f"/releases/{release.pk}{path}", None if method != "post" else {})
    assert answer.status_code == 409, answer.content
    if method == "get":
        shown = client.get(of_release(page, release))
        said = " ".join(str(m) for m in get_messages(shown.wsgi_request))
    else:
        said = page_says(client, of_release(page, release), {})
    assert answer.json()["detail"] in said


@pytest.mark.parametrize("doi", ["javascript:1", "https://elsewhere.example/10.5281/zenodo.7", "10.5281"])
def test_what_is_no_doi_is_refused_alike_before_and_after_publication(client, program, ready, doi):
    client.force_login(ready.created_by)
    said = program.said("post", f"/releases/{ready.pk}/publish", {"all_the_same": True, "doi": doi}, 422)
    services.publish(ready, ready.created_by)
    again = program.said("post", f"/releases/{ready.pk}/publish", {"doi": doi}, 422)
    later = program.said("patch", f"/releases/{ready.pk}/details", {"doi": doi}, 422)
    [text] = said["errors"]["doi"]
    assert said["errors"] == again["errors"] == later["errors"]
    assert text in page_says(client, of_release("details", ready), {"doi": doi})


def test_an_uploaded_table_waits_for_the_first_question_for_both(client, program, dataset):
    type(dataset).objects.update(unit_declared=False)
    client.force_login(dataset.owner)
    answer = program.said("post", "/releases", {"dataset": str(dataset.pk)}, 409)
    page = page_says(client, reverse("releases:start", args=[dataset.pk]), {})
    assert answer["detail"] in page


def test_a_running_count_is_refused_alike(client, program, dataset):
    client.force_login(dataset.owner)
    said = {
        "dataset": str(dataset.pk),
        "name": "Newcomers",
        "mode": "chosen",
        "amount": "0.1",
        "step": "next",
    }
    answer = program.said("post", "/streams", said, 422)
    page = page_says(
        client, reverse("streams:start", args=[dataset.pk]), {"name": "Newcomers", "mode": "chosen"}
    )
    [text] = answer["errors"]["column"]
    assert text in re.sub(r"\s+", " ", page)


@pytest.mark.parametrize("lines", ["", "1,5", "period,count\n1,many", "period,count\n2,5", "period,count"])
def test_lines_of_periods_are_refused_alike(client, program, dataset, lines):
    stream = streams.open_stream(dataset)
    client.force_login(dataset.owner)
    answer = program.said(
        "post", f"/streams/{stream.pk}/period-files", {"lines": lines}, 422 if lines else 409
    )
    page = page_says(
        client, reverse("streams:add_many", args=[stream.pk]), {"pasted": lines, "dates": "%Y-%m-%d"}
    )
    for text in answer.get("errors", {"lines": [answer["detail"]]})["lines"]:
        assert text in re.sub(r"\s+", " ", page), text


@pytest.mark.parametrize(
    ("page", "method", "path"),
    [
        ("add_many", "post", ""),
        ("confirm_file", "post", "/{}/confirm"),
        ("drop_file", "delete", "/{}"),
        ("stop", "post", "/{}/stop"),
    ],
)
def test_what_cannot_be_done_to_a_file_of_periods_is_refused_alike(
    client, program, dataset, page, method, path
):
    """Of a running count that is closed, and of a file that is through."""
    stream = streams.open_stream(dataset)
    sent = {"lines": "period,count\n1,5"}
    file = program.said("post", f"/streams/{stream.pk}/period-files", sent, 202)["id"]
    STREAM_JOBS.run(file)
    program.said("post", f"/streams/{stream.pk}/period-files/{file}/confirm", None, 202)
    STREAM_JOBS.run(file)
    StreamJob.objects.filter(pk=file).update(options={})
    program.said("post", f"/streams/{stream.pk}/close")
    client.force_login(dataset.owner)
    address = f"/streams/{stream.pk}/period-files{path.format(file)}"
    answer = program.said(method, address, sent if page == "add_many" else None, 409)
    said = {"pasted": sent["lines"], "dates": "%Y-%m-%d"}
    assert answer["detail"] in page_says(client, reverse(f"streams:{page}", args=[stream.pk]), said)


def test_no_true_counts_to_compare_are_refused_alike(client, program, dataset):
    stream = streams.open_stream(dataset)
    client.force_login(dataset.owner)
    answer = program.said("get", f"/streams/{stream.pk}/comparison", None, 409)
    shown = client.get(reverse("streams:compare", args=[stream.pk]))
    assert answer["detail"] in " ".join(str(m) for m in get_messages(shown.wsgi_request))


@pytest.mark.parametrize(
    ("address", "kinds"),
    [
        ("", ["job.finished"]),
        ("https://elsewhere.example/", ["job.finished"]),
        ("ftp://x/", []),
        ("https://x/", ["poem"]),
    ],
)
def test_a_webhook_is_refused_alike(client, program, curator, address, kinds):
    client.force_login(curator)
    answer = program.said("post", "/webhooks", {"address": address, "kinds": kinds}, 422)
    page = page_says(client, reverse("notices:page"), {"address": address, "kinds": kinds})
    for text in (text for texts in answer["errors"].values() for text in texts):
        assert text in page, text
