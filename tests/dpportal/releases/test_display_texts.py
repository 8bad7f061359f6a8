"""What files say besides numbers is what their page says: changed later, or taken back, they are written anew."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils import timezone

from dpportal.datasets.models import PublicDescription
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState
from dpportal.releases import execution, services, tasks
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.services import ReleaseError
from tests.dpportal.releases.products.building import files

SECRET = "DRAFTSECRET"
REPORTS = ("report.html", "report.zh-hans.html")
SAYING = ("README.md", "release.json", "datapackage.json", "croissant.json", *REPORTS)


@pytest.fixture
def described(requested) -> Release:
    """Finished with a title and a description that nobody shall read."""
    Release.objects.filter(pk=requested.pk).update(title=SECRET)
    PublicDescription.objects.create(dataset=requested.dataset, text=SECRET, place=SECRET, shown=True)
    execution.RELEASES.run(requested.pk)
    return fresh(requested)


def fresh(release: Release) -> Release:
    return Release.objects.get(pk=release.pk)


def untick(desk, release: Release) -> None:
    address = reverse("datasets:description", args=[release.dataset_id])
    assert desk.post(address, {"text": SECRET, "place": SECRET}).status_code == 302


def download(client, release: Release, name: str = "README.md"):
    return client.get(reverse("releases:download", args=[release.pk, name]))


def data_of(release: Release) -> dict[str, str]:
    saying = (*SAYING, "signature.json")  # which signs one of them
    return {a.name: a.sha256 for a in release.artifacts.all() if a.name not in saying and "zip" not in a.name}


@pytest.mark.slow
def test_a_title_and_a_permission_of_before_publishing_are_in_no_file(client, curator, described):
    before = data_of(described)
    services.rename(described, "Nice title", curator)
    client.force_login(curator)
    untick(client, described)
    services.publish(fresh(described), curator)
    client.logout()
    for artifact in described.artifacts.all():  # before a worker came by
        assert download(client, described, artifact.name).status_code == 503
    page = client.get(described.get_absolute_url()).content.decode()
    assert "are being written anew" in page and SECRET not in page
    assert execution.RELEASES.run(described.pk)
    told = files(described)
    assert not [name for name, content in told.items() if SECRET.encode() in content]
    assert all(b"Nice title" in told[name] for name in SAYING)
    assert data_of(fresh(described)) == before
    archive = described.artifacts.get(name__endswith=".zip")
    with default_storage.open(archive.stored) as file, zipfile.ZipFile(io.BytesIO(file.read())) as packed:
        assert {name.partition("/")[0] for name in packed.namelist()} == {"nice-title"}
    assert download(client, described).status_code == 200


@pytest.mark.slow
def test_a_dataset_called_otherwise_later_is_called_so_in_the_files(described):
    described.dataset.name = "Renamed"
    described.dataset.save()
    execution.RELEASES.run(described.pk)
    assert json.loads(files(described)["release.json"])["dataset"] == "Renamed"


@pytest.mark.slow
def test_a_curator_known_by_another_name_is_so_in_the_files(curator, described):
    """Signing in changes the person's row too, and no word."""
    curator.save(update_fields=["last_login"])
    assert ReleaseJob.objects.get(pk=described.pk).state == JobState.DONE
    curator.display_name = "County office"
    curator.save()
    execution.RELEASES.run(described.pk)
    assert json.loads(files(described)["release.json"])["curator"] == "County office"


@pytest.mark.slow
def test_the_order_of_texts_and_publication_is_that_of_the_databases_clock(
    client, curator, described, monkeypatch
):
    """The clock of a web server may be behind that of the worker who wrote the files."""
    services.rename(described, "Nice title", curator)
    now = timezone.now
    with monkeypatch.context() as behind:
        behind.setattr(timezone, "now", lambda: now() - timedelta(minutes=1))
        services.publish(fresh(described), curator)
    assert download(client, described).status_code == 503


def test_a_permission_taken_back_while_the_files_are_written_counts(client, curator, described, monkeypatch):
    services.publish(described, curator)
    client.force_login(curator)
    services.rename(described, "Second", curator)
    write = execution.bundle.write

    def slowly(*args):
        written = write(*args)
        untick(client, described)
        return written

    monkeypatch.setattr(execution.bundle, "write", slowly)
    execution.RELEASES.run(described.pk)
    client.logout()
    assert download(client, described).status_code == 503
    monkeypatch.undo()
    tasks.sweep()  # nobody was told, so it is found
    execution.RELEASES.run(described.pk)
    assert SECRET not in download(client, described).getvalue().decode()


@pytest.mark.slow
def test_files_that_say_what_is_said_stay_as_they_are(curator, described):
    services.rename(described, "Other", curator)
    execution.RELEASES.run(described.pk)
    tasks.sweep()
    assert ReleaseJob.objects.get(pk=described.pk).state == JobState.DONE


@pytest.mark.slow
def test_files_that_cannot_be_written_are_closed_and_can_be_resumed(client, curator, described):
    services.rename(described, "Other", curator)
    ReleaseJob.objects.filter(pk=described.pk).update(state=JobState.FAILED)
    client.force_login(curator)
    assert download(client, described).status_code == 503
    services.resume(fresh(described))
    assert (
        "Cancel"
        not in client.get(reverse("releases:job", args=[described.pk])).content.decode().split('id="job"')[1]
    )
    with pytest.raises(ReleaseError):
        services.cancel(fresh(described))
    assert claims.claim(ReleaseJob, described.pk)
    assert fresh(described).is_ready


@pytest.mark.slow
def test_former_files_stay_until_those_with_a_new_title_are_there(client, curator, described):
    """They were written before publication, and are what was published."""
    services.publish(described, curator)
    services.rename(described, "Second", curator)
    assert "Second" not in download(client, described).getvalue().decode()
    page = client.get(described.get_absolute_url()).content.decode()
    assert "Something that these files say has changed" in page and "Second" in page
    ReleaseJob.objects.filter(pk=described.pk).update(state=JobState.FAILED)
    assert download(client, described).status_code == 503
    ReleaseJob.objects.filter(pk=described.pk).update(state=JobState.QUEUED)
    execution.RELEASES.run(described.pk)
    services.rename(fresh(described), "Third", curator)
    assert "Second" in download(client, described).getvalue().decode()
    Release.objects.filter(pk=described.pk).update(words="")  # a file is lost
    assert download(client, described).status_code == 503


@pytest.mark.slow
def test_a_permission_that_is_taken_back_closes_files_that_were_public(client, curator, described):
    services.publish(described, curator)
    assert SECRET in download(client, described).getvalue().decode()
    client.force_login(curator)
    untick(client, described)
    client.logout()
    assert download(client, described).status_code == 503
