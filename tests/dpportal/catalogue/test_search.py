"""What everyone finds: published releases and running counts, by words, kind and year, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import Role
from dpportal.catalogue.entries import Catalogue, plain
from dpportal.catalogue.forms import SearchForm
from dpportal.datasets import services
from dpportal.datasets.models import PublicDescription
from dpportal.releases.models import Release
from dpportal.streams.models import Stream
from mechanisms.domain import Categorical
from tests.dpportal import building
from tests.dpportal.streams import building as streams

PAGE = "/published/"


def published(dataset, title, year=2026, **fields):
    release = building.requested_release(dataset, "0.01")
    Release.objects.filter(pk=release.pk).update(
        title=title,
        state=Release.State.READY,
        published_at=datetime(year, 5, 1, tzinfo=timezone.get_current_timezone()),
        **fields,
    )
    return release


@pytest.fixture
def shelf(dataset, stream):
    """Two releases of different years and a running count."""
    published(dataset, "Straßen by colour", 2025)
    published(dataset, "Ages of the county", 2026, product=Release.Product.QUERIES)
    Stream.objects.filter(pk=stream.pk).update(name="Visits so far", published_at=timezone.now())


@pytest.fixture
def stream(dataset):
    return streams.open_stream(dataset)


@pytest.mark.slow
def test_the_first_page_and_the_list_and_what_was_found_have_titles_that_tell_them_apart(client, shelf):
    pages = [client.get("/"), client.get(PAGE), client.get(PAGE, {"words": "ages"})]
    told = {page.text.partition("<title>")[2].partition("</title>")[0] for page in pages}
    assert len(told) == 3


def test_columns_stand_in_the_order_of_what_readers_see():
    """By their names in the table “wage” would be the last."""
    read = Catalogue((), {"wage": "Income", "a_hours": "Hours of work"})
    read.__dict__["facets"] = {name: {} for name in read.facets} | {
        "column": {"a_hours": 1, "sex": 2, "wage": 1}
    }
    choices = [shown for _value, shown in SearchForm(QueryDict(""), read).fields["column"].choices]
    assert choices[1:] == ["Hours of work (1)", "Income (1)", "sex (2)"]


def titles(client, **asked):
    page = client.get(PAGE, asked)
    assert page.status_code == 200
    return [str(entry.it) for entry in page.context["entries"]]


@pytest.mark.slow
def test_everything_published_newest_first(client, shelf):
    assert titles(client) == ["Visits so far", "Ages of the county", "Straßen by colour"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked, found",
    [
        ({"words": "ages"}, ["Ages of the county"]),
        ({"words": "STRASSEN"}, ["Straßen by colour"]),
        ({"words": "county ages"}, ["Ages of the county"]),
        ({"words": "county straßen"}, []),
        ({"words": "colour"}, ["Visits so far", "Ages of the county", "Straßen by colour"]),
        ({"kind": "stream"}, ["Visits so far"]),
        ({"kind": "queries"}, ["Ages of the county"]),
        ({"year": "2025"}, ["Straßen by colour"]),
        ({"kind": "queries", "year": "2025"}, []),
    ],
)
def test_words_kind_and_year_narrow_it_down(client, shelf, asked, found):
    assert titles(client, **asked) == found


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("αλκοολ", "Αλκοόλ"),
        ("Κρητη", "ΚΡΉΤΗ"),
        ("ΚΡΉΤΗ", "κρητη"),
        ("CİNSİYET", "cinsiyet"),
        ("cinsiyet", "CİNSİYET"),
        ("ISPARTA", "ısparta"),
        ("eleve", "Élève"),
        ("STRASSEN", "Straßen"),
    ],
)
def test_words_are_found_without_their_accents(asked, told):
    assert plain(asked) == plain(told)


@pytest.mark.parametrize(("asked", "told"), [("か", "が"), ("한", "하"), ("क", "कि")])
def test_marks_that_make_another_letter_stay(asked, told):
    assert plain(asked) != plain(told)


@pytest.mark.slow
def test_a_release_is_found_by_the_values_that_were_declared_and_by_their_labels(client, dataset):
    services.declare(
        dataset, "colour", Categorical("colour", values=("r", "g"), words=("crimson", "emerald"))
    )
    published(dataset, "Something", columns=["colour"])
    published(dataset, "Else", columns=["age"])
    for words in ("crimson", "EMERALD", "something emer"):
        assert titles(client, words=words) == ["Something"]
    assert titles(client, words="violet") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [{"kind": "nonsense"}, {"year": "MMXX"}, {"page": "-3"}, {"words": "\x00"}, {"words": "x" * 500}]
)
def test_an_address_that_nobody_wrote_by_the_form_is_no_error(client, shelf, asked):
    assert len(titles(client, **asked)) == 3


@pytest.mark.slow
def test_a_publisher_is_found_by_the_display_name_and_not_by_the_sign_in_name(client, shelf, curator):
    type(curator).objects.filter(pk=curator.pk).update(
        display_name="Bureau of Counts", username="hidden-name"
    )
    assert len(titles(client, words="bureau")) == 3
    assert titles(client, words="hidden-name") == []


@pytest.mark.slow
def test_drafts_previews_and_what_was_withdrawn_are_not_found(client, dataset, draft, stream):
    published(dataset, "Taken back", withdrawn_at=timezone.now())
    building.requested_release(dataset, "0.01")
    assert titles(client) == []
    assert "Nothing is published yet" in client.get(PAGE).text


@pytest.mark.slow
def test_what_a_curator_wrote_of_a_dataset_for_themselves_is_not_searched(client, shelf, dataset):
    type(dataset).objects.filter(pk=dataset.pk).update(description="private remark")
    assert titles(client, words="remark") == []
    assert "private remark" not in client.get(PAGE).text


@pytest.mark.slow
def test_a_stranger_opens_the_portal_with_it_and_an_analyst_comes_to_it(client, shelf, analyst):
    assert "Ages of the county" in client.get("/").text
    client.force_login(analyst)
    assert client.get("/").url == reverse("catalogue")
    assert analyst.role == Role.ANALYST


@pytest.mark.slow
def test_as_many_queries_however_much_is_published(client, dataset, django_assert_num_queries):
    """Once the pictures of all were asked for."""
    for number in range(4):
        published(dataset, f"Some {number}")
    client.get(PAGE)
    with django_assert_num_queries(11):
        client.get(PAGE)
    for number in range(3):
        published(dataset, f"More {number}")
    client.get(PAGE)
    with django_assert_num_queries(11):
        client.get(PAGE)


@pytest.mark.slow
def test_many_come_page_by_page_and_keep_the_search(client, dataset):
    for number in range(21):
        published(dataset, f"Colours {number}")
    published(dataset, "Another")
    first = client.get(PAGE, {"words": "colours"})
    assert (len(first.context["entries"]), first.context["number"]) == (20, 21)
    assert "words=colours&amp;page=2" in first.text
    assert len(titles(client, words="colours", page="2")) == 1


@pytest.fixture
def described(shelf, dataset):
    """The two releases' and the running count's dataset, with words for everyone; another one says nothing."""
    return PublicDescription.objects.create(
        dataset=dataset,
        shown=True,
        text="Everyone who was asked in spring",
        keywords=["survey", "health"],
        place="Fulton County",
        publisher="Bureau of Counts",
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", ["survey HEALTH", "asked in spring", "fulton", "bureau", "fulton visits", "colour survey"]
)
def test_what_is_told_of_a_dataset_is_found_by(client, described, asked):
    assert "Visits so far" in titles(client, words=asked)


@pytest.mark.slow
def test_what_is_not_shown_is_not_found_by(client, described):
    PublicDescription.objects.update(shown=False)
    for words in ("survey", "spring", "fulton", "bureau"):
        assert titles(client, words=words) == []
    assert "Fulton" not in client.get(PAGE).text


@pytest.mark.slow
def test_place_and_publisher_narrow_it_down_where_there_are_any_two(
    client, described, other_curator, administrator
):
    assert "Any place" not in client.get(PAGE).text
    theirs = building.granted(building.stored_dataset(other_curator), administrator, knowing=True)
    published(theirs, "Trees")
    PublicDescription.objects.create(dataset=theirs, shown=True, place="Oslo")
    page = client.get(PAGE, {"place": "Oslo"}).text
    assert "Fulton County (3)" in page
    assert titles(client, place="Oslo") == ["Trees"]
    assert titles(client, publisher="Bureau of Counts", year="2025") == ["Straßen by colour"]


@pytest.mark.slow
def test_a_year_of_the_data_is_found_by_and_narrows_it_down(client, described):
    """Every year from the first to the last, whenever it was published."""
    PublicDescription.objects.update(first="2011-03", last="2013")
    for year in ("2011", "2012", "2013"):
        assert "Ages of the county" in titles(client, words=year)
        assert len(titles(client, covered=year)) == 3
    assert titles(client, words="2014") == []
    PublicDescription.objects.update(shown=False)
    assert titles(client, words="2012") == []
    assert "Data of" not in client.get(PAGE).text


def test_a_column_narrows_it_down(client, dataset):
    published(dataset, "By age", columns=["age"])
    published(dataset, "By both", columns=["age", "colour"])
    assert "age (2)" in client.get(PAGE).text
    assert titles(client, column="colour") == ["By both"]


def test_columns_have_the_names_that_readers_see(client, dataset):
    """In lists, on the dataset's page, and in what they are looked for by; an address keeps the column's own name."""
    declared = [line.declared() for line in dataset.current_domain().attributes.all()]
    titles_of = {"age": "Age in years", "colour": ""}
    services.declare_all(dataset, [replace(each, title=titles_of[each.name]) for each in declared])
    published(dataset, "By both", columns=["colour", "age"])
    for address in (PAGE, reverse("public_dataset", args=[dataset.pk])):
        page = " ".join(client.get(address).text.split())
        assert "· colour × Age in years" in page and "colour × age" not in page
    assert 'value="age">Age in years (1)<' in client.get(PAGE).text
    assert titles(client, column="age") == titles(client, words="in years") == ["By both"]
