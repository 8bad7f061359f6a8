"""The public page and the downloads: who may see them, and when."""

from __future__ import annotations

import hashlib

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import services as datasets
from dpportal.releases import services, tasks
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building
from tests.dpportal.releases.products import building as products


@pytest.fixture
def finished(requested) -> Release:
    RELEASES.run(requested.pk)
    return Release.objects.get(pk=requested.pk)


@pytest.fixture
def published(finished, curator) -> Release:
    services.publish(finished, curator)
    return finished


def status(client, release: Release) -> int:
    return client.get(release.get_absolute_url()).status_code


def download(client, release: Release, name: str = "histogram.csv"):
    return client.get(reverse("releases:download", args=[release.pk, name]))


@pytest.mark.slow
def test_a_stranger_sees_a_published_release(client, published):
    assert status(client, published) == 200


@pytest.mark.slow
def test_it_says_how_its_numbers_are_read_in_r(client, published):
    page = " ".join(client.get(published.get_absolute_url()).text.split())
    path = reverse("releases:download", args=[published.pk, "histogram.csv"])
    assert f'read.csv( "http://testserver{path}",' in page and client.get(path).status_code == 200


@pytest.mark.slow
def test_it_says_whether_releases_compare_where_there_is_another(client, dataset, curator, published):
    assert "You may compare these" not in client.get(published.get_absolute_url()).text
    services.publish(products.finished(dataset, "histogram", ["age"], "0.1", "laplace-histogram"), curator)
    page = " ".join(client.get(published.get_absolute_url()).text.split())
    assert "You may compare these: they count the same rows." in page and "Compare them with care" not in page


@pytest.mark.slow
def test_what_neither_release_tells_of_makes_no_difference(client, dataset, curator, administrator):
    """A further column that is declared between them, and another protection."""
    datasets.declare(dataset, "age", None)
    one = products.finished(dataset, "histogram", ["colour"], "0.1", "laplace-histogram")
    services.publish(one, curator)
    datasets.declare(dataset, "age", Integer("age", lower=0, upper=99, width=10))
    datasets.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    building.granted(dataset, administrator, knowing=True)
    other = products.finished(dataset, "histogram", ["colour"], "0.1", "laplace-histogram")
    services.publish(other, curator)
    for each in (one, other):
        page = " ".join(client.get(each.get_absolute_url()).text.split())
        assert "You may compare these: they count the same rows." in page


@pytest.mark.slow
def test_releases_that_leave_out_other_rows_are_not_said_to_agree(client, dataset, curator, published):
    """The 100 green rows are in the first release, and in none whose closed column does not declare them."""
    datasets.declare(
        dataset, "colour", Categorical("colour", values=("red", "blue"), closed=True, title="Paint")
    )
    other = products.finished(dataset, "histogram", ["colour"], "0.1", "laplace-histogram")
    services.publish(other, curator)
    first, second = (" ".join(client.get(one.get_absolute_url()).text.split()) for one in (published, other))
    for page in (first, second):
        assert "You may compare these" not in page and "Compare them with care." in page
        assert "The columns were not declared in the same way for all of them." in page
    assert f"“{other}” leaves out rows without a declared value in Paint." in first
    assert "This release leaves out rows without a declared value in Paint." in second
    left_out = "Rows without a declared value in Paint are left out; how many is not known."
    assert left_out in second and left_out not in first
    assert second.index(left_out) < second.index("What is this?"), "beside the finding, in nothing folded"


@pytest.mark.slow
def test_releases_that_draw_rows_of_each_person_are_not_said_to_agree(client, dataset, curator):
    datasets.declare_unit(dataset, neighbours="add-remove", unit_column="colour", max_rows=7)
    for _once in range(2):
        one = products.finished(dataset, "histogram", ["age"], "0.1", "laplace-histogram")
        services.publish(one, curator)
    page = " ".join(client.get(one.get_absolute_url()).text.split())
    assert "You may compare these" not in page
    assert "At most 7 rows of each person count, drawn anew for each release." in page


@pytest.mark.slow
def test_its_table_shows_one_kind_of_count_at_a_time(client, published):
    """The style sheet hides the other's cells; both are there for programs."""
    page = " ".join(client.get(published.get_absolute_url()).text.split())
    switch, _label, table = page.partition('class="adjusted-shown"')
    assert '<table class="sortable counts with-margins"' in table and "<table" not in switch
    assert "Show adjusted counts in place of noisy ones" in table


@pytest.mark.slow
def test_a_file_that_an_older_database_names_in_vain_is_written_again(client, published):
    """A bundle that was written anew after the copy of the database has other names; the old files were swept."""
    default_storage.delete(published.artifacts.get(name="histogram.csv").stored)
    assert download(client, published).status_code == 503
    tasks.sweep()
    RELEASES.run(published.pk)
    assert download(client, published).status_code == 200


@pytest.mark.slow
def test_a_stranger_finds_nothing_before(client, finished):
    assert status(client, finished) == 404
    assert download(client, finished).status_code == 404


@pytest.mark.slow
def test_its_curator_sees_a_preview(client, finished, curator):
    client.force_login(curator)
    assert (
        "can see this page until it is published" in client.get(finished.get_absolute_url()).content.decode()
    )


@pytest.mark.slow
def test_another_curator_finds_nothing_before(client, finished, other_curator):
    client.force_login(other_curator)
    assert status(client, finished) == 404


@pytest.mark.slow
def test_an_administrator_finds_nothing_before(client, finished, administrator):
    client.force_login(administrator)
    assert status(client, finished) == 404


@pytest.mark.slow
def test_a_withdrawn_release_is_gone(client, published, curator):
    services.withdraw(published, curator)
    assert status(client, published) == 410
    assert download(client, published).status_code == 410


@pytest.mark.slow
def test_a_withdrawn_release_can_be_published_again(client, published, curator):
    services.withdraw(published, curator)
    services.publish(published, curator)
    assert status(client, published) == 200


@pytest.mark.slow
def test_each_download_has_the_bytes_of_its_sha256(client, published):
    for artifact in published.artifacts.all():
        content = b"".join(download(client, published, artifact.name).streaming_content)
        assert hashlib.sha256(content).hexdigest() == artifact.sha256
        assert len(content) == artifact.size


@pytest.mark.slow
@pytest.mark.parametrize("name", ["comparison.json", "..", "measurement", "synthetic.csv.bak"])
def test_no_other_file_can_be_downloaded(client, published, name):
    assert download(client, published, name).status_code == 404


@pytest.mark.slow
def test_a_csv_is_downloaded_not_shown(client, published):
    answer = download(client, published)
    assert answer["Content-Disposition"] == 'attachment; filename="colours-by-age-histogram.csv"'
    assert answer["Content-Type"] == "text/csv; charset=utf-8"


@pytest.mark.slow
def test_the_page_states_loss_neighbours_and_where_the_domain_is_from(client, published):
    page = client.get(published.get_absolute_url()).content.decode()
    differ = "tables that differ in one person, added or removed"
    for text in (
        "ε = 0.10",
        differ,
        "It is taken to be public knowledge: the portal did not fill it from the data",
    ):
        assert text in page


@pytest.mark.slow
def test_kinds_of_columns_are_called_as_the_curator_was_asked_for_them(client, published, curator):
    public = client.get(published.get_absolute_url()).content.decode()
    client.force_login(curator)
    own = client.get(reverse("datasets:home", args=[published.dataset_id])).content.decode()
    assert "age: whole numbers, 10 cells" in public and "colour: categories, 4 cells" in public
    assert "<td>Whole numbers</td>" in own and "<td>Categories</td>" in own


@pytest.mark.slow
def test_names_of_the_program_are_no_words_for_readers(client, published):
    page = client.get(published.get_absolute_url()).content.decode()
    begin = page.index('<dl class="facts">')
    facts = page[begin : page.index("</dl>", begin)]
    assert "colour: categories, 4 cells" in facts
    for name in ("add-remove", "replace-one", "categorical"):
        assert name not in facts


@pytest.mark.slow
def test_a_second_browser_publishes_nothing_again(finished, curator):
    """It moves no date of publication, and writes no second line."""
    stale = Release.objects.get(pk=finished.pk)
    services.publish(finished, curator)
    at = Release.objects.get().published_at
    services.publish(stale, curator)
    assert Release.objects.get().published_at == at
    assert AuditEntry.objects.filter(action="published").count() == 1
