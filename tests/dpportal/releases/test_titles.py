"""Titles: proposed, changed at any time, the former kept; drafts that nobody touched; what is listed first."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts.models import AuditEntry
from dpportal.releases import execution, services
from dpportal.releases.models import Release
from dpportal.releases.titles import spoken
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.noisy import LaplaceHistogram
from tests.dpportal import building


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def test_a_release_without_a_title_is_called_after_its_columns(draft):
    Release.objects.filter(pk=draft.pk).update(title="")
    draft.refresh_from_db()
    building.confirm(draft)
    draft.refresh_from_db()
    assert draft.title == "People by colour and age"
    assert draft.charge.reason == "People by colour and age"


def test_names_are_read_as_words_and_rows_are_no_people(dataset):
    release = Release(dataset=dataset, columns=["birth_year", "sex"])
    assert release.proposed_title == "People by birth year and sex"
    current = dataset.current_domain()
    current.unit_column, current.max_rows = "colour", 3
    current.save()
    assert Release(dataset=dataset, columns=["age"]).proposed_title == "Rows by age"


def test_a_name_of_joined_lines_is_the_same_in_title_table_and_declaration(dataset):
    def title(*columns: str, **more) -> str:
        return Release(dataset=dataset, columns=list(columns), **more).proposed_title

    assert title("Person: Age_group", "Stay: Admission: type") == (
        "People by Person: Age group and Stay: Admission: type"
    )
    measured = {"measured": ["Income: net"], "groups": ["Person: Sex"]}
    means = title("Income: net", "Person: Sex", product="means", parameters=measured)
    assert means == "Mean of Income: net by Person: Sex"
    columns = (
        Integer("Person: yob", lower=0, upper=3),
        Integer("Person: sex_code", lower=1, upper=2, title="Sex"),
    )
    assert spoken(Domain(columns)).shown_names == ("Person: yob", "Sex")
    assert spoken(Domain(columns)).names == ("Person: yob", "Person: sex_code")
    several = {"measured": ["age", "hours"]}
    assert title("sex", "age", "hours", product="means", parameters=several) == "Mean of age and hours by sex"


def test_of_many_columns_and_of_long_names_the_first_are_named_and_the_others_counted(dataset):
    def title(columns: list[str], **more) -> str:
        return Release(dataset=dataset, columns=columns, **more).proposed_title

    assert title(list("abcd")) == "People by a, b, c and d"
    assert title(list("abcde")) == "People by a, b and 3 more columns"
    assert title(list("abcdefgh"), product="microdata") == "Synthetic table of a, b and 6 more columns"
    names = [f"Q{n}. How satisfied are you with the opening hours of your library" for n in (1, 2, 3)]
    assert title(names) == f"People by {names[0]} and 2 more columns"
    short = ["opening hours of the library", "age"]
    assert title([*short, *names]) == "People by opening hours of the library, age and 3 more columns"
    measured = {"measured": list("abcdef")}
    assert title([*"abcdef", "sex"], product="means", parameters=measured) == (
        "Mean of a, b and 4 more columns by sex"
    )
    one_word = title(["x" * 200])
    assert len(one_word) == 160 and one_word.endswith("xx…")


def test_a_line_of_columns_is_short_too(dataset):
    names = [f"Q{n}. How satisfied are you with the opening hours of your library" for n in (1, 2, 3)]
    assert Release(dataset=dataset, columns=names).columns_shown == f"{names[0]} and 2 more columns"
    assert Release(dataset=dataset, columns=["age", "sex"]).columns_shown == "age × sex"


@pytest.mark.parametrize(
    ("columns", "parameters", "title"),
    [
        (["age"], {"question": "quantile", "level": "1/2"}, "Median of age"),
        (["age"], {"question": "quantile", "level": "9/10"}, "Quantile 0.9 of age"),
        (["100%"], {"question": "most-common-value"}, "Most common value of 100%"),
        (["tea", "milk"], {"question": "best-option"}, "Best of tea / milk"),
        (list("abcde"), {"question": "fewest-conflicts"}, "Fewest conflicts of 5 columns"),
    ],
)
def test_a_private_choice_is_called_after_its_question(dataset, columns, parameters, title):
    release = Release(dataset=dataset, product="selection", columns=columns, parameters=parameters)
    assert release.proposed_title == title


@pytest.mark.parametrize(
    ("workload", "title"),
    [
        ('ranges("age")', "People by ranges of age"),
        ('prefix("age")', "People by age, running totals"),
        ('total + identity("age")', "People by age"),
        ("marginals(<=2)", "People by age"),
        ("", "Answers on age"),
    ],
)
def test_answers_are_called_after_what_is_asked(dataset, workload, title):
    release = Release(dataset=dataset, product="queries", columns=["age"], parameters={"workload": workload})
    assert release.proposed_title == title


def test_a_former_question_is_not_in_the_title_of_another_product(dataset):
    release = Release(dataset=dataset, columns=["age"], parameters={"question": "quantile", "level": "1/2"})
    assert release.proposed_title == "People by age"


def test_the_review_names_title_and_method(desk, draft):
    page = desk.get(reverse("releases:review", args=[draft.pk])).content.decode()
    assert "Colours by age" in page
    assert f"<dt>Method</dt><dd>{LaplaceHistogram.title}" in page


@pytest.mark.slow
@pytest.mark.parametrize("published", [False, True])
def test_a_title_is_changed_also_after_publishing(desk, client, ready, published):
    if published:
        services.publish(ready, ready.created_by)
    desk.post(reverse("releases:rename", args=[ready.pk]), {"title": "  Ages by colour "})
    ready.refresh_from_db()
    assert ready.title == "Ages by colour"
    line = AuditEntry.objects.get(action="renamed")
    assert "'Colours by age'" in line.detail and "'Ages by colour'" in line.detail
    assert ready.charge.reason == "Colours by age"
    if published:
        client.logout()
        assert "Ages by colour" in client.get(ready.get_absolute_url()).content.decode()


@pytest.mark.parametrize("title", ["", "   ", "x" * 161, "nul \0 inside"])
def test_a_title_that_is_none_is_refused_with_a_sentence(desk, draft, title):
    answer = desk.post(reverse("releases:rename", args=[draft.pk]), {"title": title}, follow=True)
    assert answer.status_code == 200
    draft.refresh_from_db()
    assert draft.title == "Colours by age"
    assert not AuditEntry.objects.filter(action="renamed").exists()


@pytest.mark.slow
def test_nobody_renames_what_is_not_theirs(client, other_curator, ready):
    client.force_login(other_curator)
    assert client.post(reverse("releases:rename", args=[ready.pk]), {"title": "Mine"}).status_code == 404


def test_a_draft_that_nobody_touched_since_yesterday_is_taken_and_empty_ones_are_listed_nowhere(
    desk, dataset
):
    begin, drafts = reverse("releases:start", args=[dataset.pk]), Release.objects
    address = desk.post(begin).url
    desk.post(begin)
    yesterday = timezone.now() - timedelta(hours=25)
    drafts.filter(changed_at__lt=timezone.now()).update(changed_at=yesterday)
    again = desk.post(begin).url
    assert drafts.count() == 1 and str(drafts.get().pk) in again
    assert desk.post(begin).url not in (address, again) and drafts.count() == 2
    for page in ("/releases/", reverse("datasets:home", args=[dataset.pk])):
        shown = desk.get(page).content.decode()
        assert not any(str(draft.pk) in shown for draft in drafts.all())


def test_another_page_does_not_take_a_draft_that_is_open(desk, dataset):
    """Its columns were chosen on a page that was opened before the other page began."""
    begin = reverse("releases:start", args=[dataset.pk])
    opened = desk.post(begin).url
    columns = desk.post(opened, {"title": "", "product": "histogram"}).url
    other = desk.post(begin).url
    assert other != opened
    assert desk.post(columns, {"columns": ["colour"], "people": "300"}).status_code == 302
    assert desk.post(other, {"title": "", "product": "queries"}).status_code == 302
    draft = Release.objects.get(product="histogram")
    assert draft.columns == ["colour"] and Release.objects.count() == 2


def test_a_draft_in_which_something_was_chosen_stays(desk, dataset):
    desk.post(reverse("releases:start", args=[dataset.pk]))
    draft = Release.objects.get()
    address = reverse("releases:product", args=[draft.pk])
    desk.post(address, {"title": "Kept", "product": "histogram"})
    desk.post(reverse("releases:start", args=[dataset.pk]))
    assert Release.objects.count() == 2
    assert "Kept" in desk.get("/releases/").content.decode()


@pytest.mark.slow
def test_what_waits_to_be_published_is_listed_first(dataset):
    waiting = building.requested_release(dataset, "0.01")
    execution.RELEASES.run(waiting.pk)
    public = building.requested_release(dataset, "0.01")
    execution.RELEASES.run(public.pk)
    Release.objects.filter(pk=public.pk).update(published_at=timezone.now())
    draft = building.complete_draft(dataset)
    assert list(Release.objects.confirmed().values_list("pk", flat=True)) == [waiting.pk, public.pk]
    assert list(Release.objects.drafts()) == [draft]


@pytest.mark.slow
def test_a_finished_release_is_the_beginning_of_another(desk, ready):
    Release.objects.filter(pk=ready.pk).update(purpose="ranges")
    assert (
        "Another release with these choices"
        in desk.get(reverse("releases:compare", args=[ready.pk])).content.decode()
    )
    desk.post(reverse("releases:again", args=[ready.pk]))
    draft = Release.objects.get(state=Release.State.DRAFT)
    same = ("columns", "mechanism", "parameters", "amount", "people", "purpose", "product")
    assert [getattr(draft, name) for name in same] == [
        getattr(Release.objects.get(pk=ready.pk), name) for name in same
    ]
    desk.post(reverse("releases:again", args=[ready.pk]))
    assert Release.objects.get(state=Release.State.DRAFT) == draft


@pytest.mark.slow
def test_a_proposed_title_follows_the_columns_of_another_release(desk, ready):
    again = reverse("releases:again", args=[ready.pk])
    Release.objects.filter(pk=ready.pk).update(title=ready.proposed_title)
    assert "change it with the columns" not in desk.post(again, follow=True).text
    draft = Release.objects.get(state=Release.State.DRAFT)
    draft.columns = ["age"]
    assert draft.title == "" and draft.proposed_title == "People by age"
    Release.objects.filter(pk=ready.pk).update(title="Colours by age")
    assert "change it with the columns" in desk.post(again, follow=True).text
