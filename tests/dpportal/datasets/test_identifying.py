"""A column that seems to name people is asked about while each row is a person, before anything is spent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import services
from dpportal.datasets.identifying import columns_to_ask_about
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from dpportal.releases.services import ReleaseError
from dpportal.streams.models import Stream
from dpportal.streams.services import StreamError
from tests.dpportal import building
from tests.dpportal.streams import building as streams

KEYS = [f"P{number % 50:05d}" for number in range(400)]


@pytest.fixture
def asked(dataset) -> Dataset:
    """The curator's table, whose column “age” seems to name people."""
    columns = [{**column, "identifies": column["name"] == "age"} for column in dataset.columns]
    Dataset.objects.filter(pk=dataset.pk).update(columns=columns)
    dataset.refresh_from_db()
    return dataset


@pytest.fixture
def desk(client, asked) -> Client:
    client.force_login(asked.owner)
    return client


def review_of_release(desk: Client, asked: Dataset) -> tuple[str, Callable[[], str]]:
    draft = building.complete_draft(asked)
    return f"/releases/{draft.pk}/review/", lambda: Release.objects.get(pk=draft.pk).state


def review_of_stream(desk: Client, asked: Dataset) -> tuple[str, Callable[[], str]]:
    draft = streams.draft_stream(asked)
    return f"/streams/{draft.pk}/review/", lambda: Stream.objects.get(pk=draft.pk).state


@pytest.mark.slow
@pytest.mark.parametrize("made", [review_of_release, review_of_stream])
def test_nothing_is_spent_before_the_question_is_answered(desk, asked, made):
    address, state = made(desk, asked)
    page = desk.get(address)
    reviewed = page.context["form"]["reviewed"].value()
    assert "Does a person have more than one row?" in page.content.decode()
    answer = desk.post(address, {"reviewed": reviewed, "agreed": "on", "useless": "on"})
    assert (answer.status_code, state()) == (422, "draft")
    assert asked.budgets.get().reserved == 0
    desk.post(address, {"reviewed": reviewed, "agreed": "on", "useless": "on", "one_row": "on"})
    assert state() in ("requested", "opening")
    entry = AuditEntry.objects.get(action="confirmed one row a person")
    assert (entry.by, entry.detail) == (asked.owner, "columns: 2")

    # Said once, it is not asked again.
    address, _state = made(desk, asked)
    assert "more than one row?" not in desk.get(address).content.decode()


def test_the_services_refuse_what_was_not_answered(asked):
    with pytest.raises(ReleaseError, match="Does a person have more than one row"):
        building.confirm(building.complete_draft(asked))
    with pytest.raises(StreamError, match="Does a person have more than one row"):
        streams.requested_stream(asked)


def test_who_names_the_column_is_not_asked(desk, asked):
    services.declare_unit(asked, neighbours="add-remove", unit_column="age", max_rows=3)
    assert columns_to_ask_about(asked) == []


def test_another_column_is_asked_about_anew(asked):
    services.confirm_one_row(asked, ["age"], asked.owner)
    assert columns_to_ask_about(asked) == []
    Dataset.objects.filter(pk=asked.pk).update(
        columns=[*asked.columns, {"name": "patient_id", "kind": "text", "remark": ""}]
    )
    asked.refresh_from_db()
    assert columns_to_ask_about(asked) == ["patient_id"]


@pytest.mark.slow
def test_reading_a_file_finds_them(client, curator):
    client.force_login(curator)
    rows = "\n".join(f"{key},{number}" for number, key in enumerate(KEYS))
    dataset = building.uploaded(client, f"who,age\n{rows}\n".encode())
    assert columns_to_ask_about(dataset) == ["who"]


@pytest.fixture
def unanswered(client, curator) -> Dataset:
    """A table that was just uploaded, with a column that is called like an identifier."""
    client.force_login(curator)
    dataset = building.stored_dataset(curator)
    columns = [{"name": "patient_id", "kind": "text", "remark": ""}, *dataset.columns[1:]]
    Dataset.objects.filter(pk=dataset.pk).update(columns=columns, unit_declared=False)
    dataset.domain_versions.all().delete()
    dataset.refresh_from_db()
    return dataset


def test_the_first_question_after_an_upload_stands_before_all_others(client, unanswered):
    for name in ("datasets:home", "datasets:domain"):
        page = client.get(reverse(name, args=[unanswered.pk])).content.decode()
        assert "Is each row one person?" in page
        assert "<strong>patient_id</strong>" in page
        assert "ach row, as one person" not in page
    answer = client.post(reverse("releases:start", args=[unanswered.pk]), follow=True)
    assert "Say first whether each row is one person" in answer.content.decode()
    assert not unanswered.releases.exists()


def test_yes_is_said_once_for_all_pages(client, unanswered):
    page = client.post(reverse("datasets:one_row", args=[unanswered.pk]), follow=True).content.decode()
    assert "Is each row one person?" not in page
    assert "Each row, as one person, added or removed" in page
    unanswered.refresh_from_db()
    assert columns_to_ask_about(unanswered) == []


def test_no_proposes_the_column(client, unanswered):
    page = client.get(reverse("datasets:unit", args=[unanswered.pk]) + "?several")
    assert page.context["form"]["unit_column"].value() == "patient_id"
    said = {"neighbours": "add-remove", "unit_column": "patient_id", "max_rows": 3}
    client.post(reverse("datasets:unit", args=[unanswered.pk]), said)
    page = client.get(reverse("datasets:home", args=[unanswered.pk])).content.decode()
    assert "Is each row one person?" not in page
    assert "Each person in “patient_id”" in page


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_curator_sees_how_many_persons_the_first_rows_have(client, curator, language):
    dataset = building.stored_dataset(curator)
    services.declare_unit(dataset, neighbours="add-remove", unit_column="colour", max_rows=2)
    client.force_login(curator)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    answer = client.get(reverse("datasets:unit", args=[dataset.pk]))
    assert answer.status_code == 200 and answer.context["persons"] == 3
    said = {"en": "rows have 3 different people in colour", "zh-hans": "colour 中有 3 个不同的人"}
    assert said[language] in " ".join(answer.text.split())


def test_a_row_for_each_person_on_the_form_answers_for_the_review_too(client, unanswered):
    said = {"neighbours": "add-remove", "unit_column": "", "max_rows": 1}
    client.post(reverse("datasets:unit", args=[unanswered.pk]), said)
    unanswered.refresh_from_db()
    assert columns_to_ask_about(unanswered) == []


def test_the_shortcut_to_a_summary_asks_first_too(client, unanswered):
    address = reverse("releases:summarise", args=[unanswered.pk])
    assert "Say first whether each row is one person" in client.post(address, follow=True).content.decode()
    assert not unanswered.releases.exists()


def test_nothing_is_spent_before_it_is_said_whether_a_row_is_a_person(dataset):
    """Also of a draft that was begun before, and where no column looks like an identifier."""
    draft = building.complete_draft(dataset)
    Dataset.objects.filter(pk=dataset.pk).update(unit_declared=False)
    with pytest.raises(ReleaseError, match="Say first whether each row is one person"):
        building.confirm(draft)
    with pytest.raises(StreamError, match="Say first whether each row is one person"):
        streams.requested_stream(dataset)
    assert dataset.budgets.get().reserved == 0


def asked_first(curator, names: dict[str, bool | None], rows: int = 100) -> Dataset:
    """A table of which the first question is open; names: of columns, and whether a value comes twice in each."""
    dataset = building.stored_dataset(curator)
    columns = [{"name": name, "kind": "text", "repeats": repeats} for name, repeats in names.items()]
    Dataset.objects.filter(pk=dataset.pk).update(columns=columns, unit_declared=False, rows=rows)
    dataset.domain_versions.all().delete()
    dataset.refresh_from_db()
    return dataset


def shown_first(client, curator, dataset: Dataset) -> str:
    client.force_login(curator)
    return " ".join(client.get(reverse("datasets:home", args=[dataset.pk])).text.split())


YES = '<button class="button primary">Yes, each row is one person</button>'


def test_numbers_of_cases_answer_nothing_about_people(client, curator):
    page = shown_first(client, curator, asked_first(curator, {"Fall-Nr.": False, "age": True}))
    assert "A person with three stays has three numbers" in page and "Can a person have several?" in page
    assert YES not in page and '<button class="button">Yes, each row is one person</button>' in page
    assert "seems to be one person" not in page
    # Who says no names the column that tells a person.
    assert "No, a person can have several rows" in page and "<option>Fall-Nr.</option>" in page


def test_beside_a_person_s_number_that_of_a_case_is_not_asked_about(client, curator):
    page = shown_first(client, curator, asked_first(curator, {"visit_id": False, "patient_id": True}))
    assert "<strong>patient_id</strong>" in page and "three stays" not in page
    assert 'class="button primary" name="column" value="patient_id"' in page


@pytest.mark.parametrize(("repeats", "rows"), [(None, 100), (True, 6)])
def test_a_name_alone_does_not_answer_that_people_have_several_rows(client, curator, repeats, rows):
    page = shown_first(client, curator, asked_first(curator, {"patient": repeats}, rows))
    assert "button primary" not in page[page.index('id="one-row"') : page.index("another column says")]


@pytest.mark.parametrize("name", ["who", "Heure"])
def test_texts_alone_never_answer_that_people_have_several_rows(client, curator, name):
    """Also not of a table that an earlier version read, whose column of times it took for a key."""
    dataset = asked_first(curator, {name: True, "age": True})
    looks = [{"identifies": True}, {}]
    Dataset.objects.filter(pk=dataset.pk).update(column_looks=looks)
    page = shown_first(client, curator, Dataset.objects.get(pk=dataset.pk))
    assert f"Do values of <strong>{name}</strong> say who a person is?" in page
    assert "identifier of people" not in page and "seems to have several rows" not in page
    asked = page[page.index('id="one-row"') : page.index("No, a person can have several rows")]
    assert "button primary" not in asked and "rows with the same" not in asked


def test_who_has_counts_already_is_led_to_where_they_are_entered(client, curator):
    page = shown_first(client, curator, asked_first(curator, {"day": False, "deaths": True}))
    assert f'<a href="{reverse("datasets:tableless")}">enter the counts yourself</a>' in page


def test_a_case_is_named_beside_what_only_looks_like_a_key(client, curator):
    dataset = asked_first(curator, {"N° d'appel": False, "who": True})
    Dataset.objects.filter(pk=dataset.pk).update(column_looks=[{"identifies": True}] * 2)
    page = shown_first(client, curator, Dataset.objects.get(pk=dataset.pk))
    assert "<strong>N° d&#x27;appel</strong> looks like the number of a case" in page
    assert "Do values of <strong>who</strong> say who a person is?" in page


def test_another_column_than_one_of_alike_texts_is_not_chosen_beforehand(client, curator):
    dataset = asked_first(curator, {"who": True})
    Dataset.objects.filter(pk=dataset.pk).update(column_looks=[{"identifies": True}])
    client.force_login(curator)
    page = client.get(reverse("datasets:unit", args=[dataset.pk]) + "?several")
    assert not page.context["form"]["unit_column"].value()
