"""What an owner says of a dataset, by a program: the same forms and services as the pages, recorded alike."""

from __future__ import annotations

import json
from datetime import timedelta
from html import unescape
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import services
from dpportal.datasets.area_map import AreaMap
from dpportal.datasets.declared import declared_of, filled_of
from dpportal.datasets.models import Dataset, PublicDescription, Right, Share

OPEN = "CC-BY-4.0"


def acts() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_a_description_with_its_licence_is_written_by_parts(program, dataset):
    path = f"/datasets/{dataset.pk}/description"
    assert program.said("get", path)["shown"] is False and not PublicDescription.objects.exists()
    said = {"text": "Children, by colour.", "keywords": ["colour", "age"], "first": "2011", "licence": OPEN}
    written = program.said("patch", path, said)
    assert written == program.said("get", path) and written["keywords"] == ["colour", "age"]
    later = program.said("patch", path, {"shown": True, "last": "2012"})
    assert later == {**written, "shown": True, "last": "2012"}
    assert acts()[-2:] == ["described", "described for everyone"]


def test_what_is_said_again_as_it_stands_leaves_no_line_on_the_record(program, dataset):
    """A program that is run every night changes nothing the second time."""
    description = {
        "text": "Children, by colour.",
        "keywords": ["colour", "age"],
        "licence": OPEN,
        "shown": True,
    }
    own = {"name": "Colours", "description": "By age."}
    recorded = []
    for _run in range(2):
        program.said("patch", f"/datasets/{dataset.pk}/description", description)
        program.said("patch", f"/datasets/{dataset.pk}", own)
        recorded.append(acts())
    assert recorded[0] == recorded[1] and acts()[-2:] == ["described for everyone", "renamed"]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"licence": "mine"}, "licence"),
        ({"last": "2010"}, "first"),
        ({"contact": "x"}, "contact"),
        ({"a": 1}, "a"),
    ],
)
def test_a_description_that_is_refused_names_the_field(program, dataset, said, name):
    assert list(program.said("patch", f"/datasets/{dataset.pk}/description", said, 422)["errors"]) == [name]
    assert not PublicDescription.objects.exists()


def test_a_dataset_is_renamed(program, dataset):
    path = f"/datasets/{dataset.pk}"
    before = dataset.description
    renamed = program.said("patch", path, {"name": "Children"})
    assert (renamed["name"], renamed["description"]) == ("Children", before)
    assert program.said("patch", path, {"name": ""}, 422)["errors"]["name"] and acts()[-1] == "renamed"


def test_the_day_of_erasure_is_chosen_and_taken_back(program, dataset):
    path = f"/datasets/{dataset.pk}/erasure"
    day = (timezone.localdate() + timedelta(days=90)).isoformat()
    assert program.said("put", path, {"day": day})["last_day"] == day == program.said("get", path)["day"]
    assert program.said("put", path, {"day": None}) == {"day": None, "last_day": None, "receipt": None}
    assert "Choose a day to come" in program.said("put", path, {"day": "2001-01-01"}, 409)["detail"]
    services.erase(dataset, dataset.owner)
    assert json.loads(program.said("get", path)["receipt"])


def test_a_dataset_is_shared_and_taken_back(program, stranger, dataset):
    path, name = f"/datasets/{dataset.pk}/shares", stranger.token.by.get_username()
    given = program.said("post", path, {"name": name, "right": 1}, 201)
    assert given["right"] == Right.SEE and program.said("get", path) == [given]
    assert program.said("post", path, {"name": name, "right": 2}, 201)["right"] == Right.RELEASE
    stranger.said("post", path, {"name": "someone", "right": 1}, 404)
    assert len(stranger.said("get", path)) == 1
    stranger.said("delete", f"{path}/{given['id']}", None, 204)
    stranger.said("get", path, None, 404)
    assert "user name" in program.said("post", path, {"name": "nobody", "right": 1}, 409)["detail"]
    again = program.said("post", path, {"name": name, "right": 3}, 201)
    program.said("delete", f"{path}/{again['id']}", None, 204)
    assert not Share.objects.exists()


def area(name: str, at: int) -> dict[str, object]:
    ring = [[at, 0], [at + 1, 0], [at + 1, 1], [at, 1], [at, 0]]
    return {
        "type": "Feature",
        "properties": {"name": name},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


def test_areas_of_a_column_are_said_and_taken_away(program, dataset):
    path, first = f"/datasets/{dataset.pk}/areas", declared_of(dataset)["colour"].values[0]
    areas = {"type": "FeatureCollection", "features": [area(first, 0)]}
    taken = program.said("put", path, {"column": "colour", "areas": areas, "credit": "Atlas"})
    assert taken["known"] == 1 and first not in taken["lacking"] and AreaMap.objects.get().credit == "Atlas"
    assert "colour" not in program.said("put", path, {"column": "age", "areas": areas}, 422)["errors"]
    assert program.said("put", path, {"column": "nope", "areas": areas}, 422)["errors"]["column"]
    assert program.said("put", path, {"column": "colour", "areas": {}}, 422)["errors"]["areas"]
    program.said("delete", f"{path}?column=colour", None, 204)
    assert not AreaMap.objects.exists()


def test_a_declaration_is_copied_and_a_column_filled(program, dataset):
    declared = declared_of(dataset)
    path = f"/datasets/{dataset.pk}/declaration"
    assert program.said("post", f"{path}/fill", {"column": "age", "public": False}, 422)["errors"]["public"]
    program.said("post", f"{path}/fill", {"column": "age", "public": True})
    assert filled_of(dataset) == {"age"} and acts()[-1] == "filled domain from data"
    copy = Dataset.objects.create(
        owner=dataset.owner, name="Copy", state=dataset.state, columns=dataset.columns
    )
    answer = program.said("post", f"/datasets/{copy.pk}/declaration/copy", {"source": str(dataset.pk)})
    assert set(answer["columns"]) == set(declared) and filled_of(copy) == {"age"}
    program.said("post", f"{path}/copy", {"source": str(uuid4())}, 404)


@pytest.mark.parametrize(
    ("column", "how", "wrong"),
    [("colour", "groups", {"edges": [0, 1]}), ("age", "edges", {"step": "month"})],
)
def test_a_coarser_column_is_declared_and_taken_away(program, dataset, column, how, wrong):
    path, finer = f"/datasets/{dataset.pk}/declaration/coarser", declared_of(dataset)[column]
    ways = {
        "groups": {"groups": dict.fromkeys(finer.values, "all") | {finer.values[0]: "first"}}
        if how == "groups"
        else {},
        "edges": {"edges": [finer.lower, finer.upper]} if how == "edges" else {},
    }
    said = {"column": column, "name": "coarse", **ways[how]}
    program.said("post", path, said)
    assert declared_of(dataset)["coarse"].source == column
    assert "already" in program.said("post", path, said, 409)["detail"]
    assert program.said("post", path, {"column": column, "name": "new", **wrong}, 422)["errors"]
    program.said("delete", f"{path}?name=coarse", None, 204)
    assert "coarse" not in declared_of(dataset)
    assert "no such coarser" in program.said("delete", f"{path}?name=age", None, 409)["detail"]


def test_first_rows_are_for_owners_and_recorded(program, stranger, dataset):
    path = f"/datasets/{dataset.pk}/rows"
    Share.objects.create(dataset=dataset, person=stranger.token.by, right=Right.RELEASE)
    stranger.said("get", path, None, 404)
    assert "viewed first rows" not in acts()
    found = program.said("get", f"{path}?first=3")
    assert found["columns"][:2] == ["colour", "age"] and len(found["rows"]) == 3
    assert acts().count("viewed first rows") == 1
    program.said("get", f"{path}?first=21", None, 422)
    services.erase(dataset, dataset.owner)
    assert "no records" in program.said("get", path, None, 409)["detail"]


def test_rows_whose_file_is_gone_are_a_refusal_and_no_fault(program, client, dataset):
    Dataset.objects.update(table=f"datasets/{dataset.pk}/gone.parquet")
    client.force_login(dataset.owner)
    page = client.get(reverse("datasets:first_rows", args=[dataset.pk]))
    assert page.status_code == 503 and "A stored file of this dataset is not there" in unescape(page.text)
    told = program.said("get", f"/datasets/{dataset.pk}/rows", None, 503)
    assert "A stored file of this dataset is not there" in told["detail"]


def test_how_a_file_is_read_is_changed_and_its_reading_stopped(program, dataset):
    path = f"/datasets/{dataset.pk}/reading"
    seen = program.said("get", path)
    assert seen["can_change"] and seen["options"]["header"] == "names"
    program.said("patch", path, {"missing": "NA '?'"})
    assert program.said("get", path)["options"] == {**seen["options"], "missing": "NA '?'"}
    assert program.said("patch", path, {"encoding": "morse"}, 422)["errors"]["encoding"]
    assert "no longer kept" in program.said("patch", path, {"encoding": "utf-16"}, 409)["detail"]
    Dataset.objects.update(facts={"format": "csv"})
    assert program.said("patch", path, {"sheet": "Two"}, 422)["errors"]["sheet"]
    assert program.said("post", f"{path}/cancel", None, 409)["detail"]
    assert program.said("post", f"{path}/again", None, 409)["detail"]
    Dataset.objects.update(state="converting", upload="kept.original")
    dataset.conversion.__class__.objects.update(state="queued")
    assert program.said("post", f"{path}/cancel")["state"] == "cancelled"
    assert program.said("post", f"{path}/again")["state"] == "converting"
    assert acts()[-2:] == ["cancelled reading", "read again"]


def test_what_was_not_loaded_is_removed(program, dataset):
    path = f"/datasets/{dataset.pk}"
    assert "Only an upload" in program.said("delete", path, None, 409)["detail"]


def test_people_are_counted_without_a_table(program, dataset):
    said = {"name": "Patients", "max_rows": 2, "person": "number", "column": "ward", "values": ["A", "B"]}
    made = program.said("post", "/datasets/counted", said, 201)
    assert (made["state"], made["declared"]) == ("counted", ["ward"])
    assert program.said("post", "/datasets/counted", {**said, "person": ""}, 422)["errors"]["person"]
    assert program.said("post", "/datasets/counted", {**said, "values": []}, 422)["errors"]["values"]


def test_a_table_elsewhere_is_one_that_is_offered(program, dataset):
    assert program.said("get", "/datasets/offered-tables") == []
    assert program.said("post", "/datasets/connected", {"table": 1}, 422)["errors"]["table"]
