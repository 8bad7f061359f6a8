"""Downloads are called after what was published, and lie in one folder."""

from __future__ import annotations

import io
import zipfile

import pytest

from dpportal.publications.archive import LONGEST_NAME, folder_name
from dpportal.releases import execution, services
from dpportal.releases.models import Artifact


@pytest.mark.parametrize(
    "title, name",
    [
        ("Colours by age", "colours-by-age"),
        ("age × sex, Fulton County", "age-sex-fulton-county"),
        ("Größe, Île-de-France 2020/21", "größe-île-de-france-202021"),
        ("人口 2020", "人口-2020"),
        ("../../etc/passwd", "etcpasswd"),
        ("///", "release-1"),
        ("", "release-1"),
    ],
)
def test_a_folder_is_called_after_the_title(title, name):
    assert folder_name(title, "release-1") == name


def test_a_long_title_makes_no_long_name():
    assert len(folder_name("word " * 40, "")) <= LONGEST_NAME


@pytest.mark.slow
def test_a_release_is_saved_under_its_present_title_in_one_folder(client, ready):
    services.rename(ready, "Ages of Fulton", ready.created_by)
    services.publish(ready, ready.created_by)
    execution.RELEASES.run(ready.pk)  # its files are written anew
    archive = Artifact.objects.get(release=ready.pk, name__endswith=".zip")
    answer = client.get(f"/releases/{ready.pk}/download/{archive.name}")
    assert answer["Content-Disposition"] == 'attachment; filename="ages-of-fulton.zip"'
    assert archive.shown_name == "ages-of-fulton.zip"
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as packed:
        assert {name.split("/")[0] for name in packed.namelist()} == {"ages-of-fulton"}
        assert "ages-of-fulton/histogram.csv" in packed.namelist()
    single = client.get(f"/releases/{ready.pk}/download/histogram.csv")
    assert single["Content-Disposition"] == 'attachment; filename="ages-of-fulton-histogram.csv"'
