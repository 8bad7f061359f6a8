"""What a stream's download holds: tables that agree with what was published, and with what explains them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpportal.datasets import services as datasets
from dpportal.streams import bundle, execution
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import Series, evenly_spaced, published as series_of
from mechanisms.domain import Categorical
from mechanisms.verify import observations
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import State
from tests.dpportal.publications import forging
from tests.dpportal.streams import building

INCREMENTS = (5, 3, 4, 0)
SECRET = 987_654_321


def _publish(stream: Stream, index: int, count: int) -> int:
    update = Update(index, (count,), Period.Source.TYPED)
    (published,) = execution.publish(stream.pk, [update], noise=building.repeated_noise())
    return int(published.period.released[0])


@pytest.fixture
def running(stream: Stream) -> Stream:
    for index, count in enumerate(INCREMENTS, 1):
        _publish(stream, index, count)
    return Stream.objects.get(pk=stream.pk)


def _series(stream: Stream) -> Series:
    series = series_of(stream)
    assert series is not None
    return series


def _written(stream: Stream, folder: Path) -> dict[str, Path]:
    return {file.name: file.path for file in bundle.write(stream, _series(stream), folder)}


@pytest.mark.slow
def test_the_table_holds_what_was_published(running: Stream, tmp_path: Path) -> None:
    table = pd.read_csv(_written(running, tmp_path)["series.csv"])
    released = [period.released[0] for period in running.periods.all()]
    widths = [period.half_width for period in running.periods.all()]
    assert table["released_count"].tolist() == released
    assert (table["interval_upper"] - table["interval_lower"]).tolist() == [2 * width for width in widths]
    assert table["increment"].tolist() == np.diff(released, prepend=0).tolist()
    assert (table["never_falling_increment"] >= 0).all()
    assert (table["never_falling_count"] >= 0).all()


@pytest.mark.slow
def test_nothing_of_the_true_counts_is_in_a_bundle(stream: Stream, tmp_path: Path) -> None:
    """With noise that is known not to be zero."""
    assert _publish(stream, 1, SECRET) != SECRET
    for path in _written(stream, tmp_path).values():
        assert str(SECRET).encode() not in path.read_bytes()


@pytest.mark.slow
def test_the_description_is_valid_and_the_digests_are_right(running: Stream, tmp_path: Path) -> None:
    files = _written(running, tmp_path)
    assert _valid(files["datapackage.json"])
    about: dict[str, Any] = json.loads(files["release.json"].read_text())
    assert about["periods"] == len(INCREMENTS)
    assert about["plan"] == running.plan_json
    assert about["statement"].startswith("This running count is differentially private with ε = 0.50")
    tables, drawings = {"series.csv", "series.xlsx", "series.sdmx.csv", "series.sdmx.json"}, {"chart.svg"}
    explaining = {
        "datapackage.json",
        "croissant.json",
        "README.md",
        "report.html",
        "report.zh-hans.html",
        "notebook.py",
        "notebook.ipynb",
    }
    assert set(about["files"]) == tables | drawings | explaining
    for name, said in about["files"].items():
        assert hashlib.sha256(files[name].read_bytes()).hexdigest() == said["sha256"]


@pytest.mark.slow
def test_the_archive_holds_every_other_file_and_is_the_same_each_time(
    running: Stream, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    first, second = (_written(running, folder) for folder in folders)
    name = bundle.archive_name(running)
    with zipfile.ZipFile(io.BytesIO(first[name].read_bytes())) as archive:
        inside = {entry.partition("/")[2] for entry in archive.namelist()}
        assert inside == set(first) - {name}
    assert first[name].read_bytes() == second[name].read_bytes()


@pytest.mark.slow
def test_codes_stand_beside_their_labels_and_a_missing_value_is_empty(dataset, tmp_path: Path) -> None:
    """As in the files of releases; “Missing” would be a value like any other."""
    coded = Categorical("colour", True, values=("-9", "1"), words=("refused", "employed"))
    datasets.declare(dataset, "colour", coded)
    stream = building.open_stream(dataset, split=True, cells=[])
    update = Update(1, (4,) * len(stream.labels), Period.Source.TYPED)
    execution.publish(stream.pk, [update], noise=building.repeated_noise())
    files = _written(Stream.objects.get(pk=stream.pk), tmp_path)
    lines = [line.split(",")[2:4] for line in files["series.csv"].read_text().splitlines()]
    assert lines == [
        ["value", "value_label"], ["-9", "refused"], ["1", "employed"], ["Other", "Other"], ["", ""],
    ]  # fmt: skip
    pd.testing.assert_frame_equal(
        pd.read_csv(files["series.csv"]), pd.read_excel(files["series.xlsx"]), check_dtype=False
    )
    assert _valid(files["datapackage.json"])
    assert "`value_label` says what the" in files["README.md"].read_text()


@pytest.mark.slow
@pytest.mark.parametrize(("split", "code", "others"), [(False, "_Z", {"_U", ""}), (True, "_U", {""})])
def test_a_count_that_is_alone_names_no_value_and_is_no_missing_one(
    dataset, tmp_path: Path, split: bool, code: str, others: set[str]
) -> None:
    """In the file for statistical offices; as earlier versions wrote it, too, it is verified."""
    datasets.declare(dataset, "colour", Categorical("colour", True, values=("red", "blue")))
    stream = building.open_stream(dataset, split=split, cells=[] if split else [0])
    update = Update(1, (4,) * len(stream.labels), Period.Source.TYPED)
    execution.publish(stream.pk, [update], noise=building.repeated_noise())
    zipped = _written(Stream.objects.get(pk=stream.pk), tmp_path)[bundle.archive_name(stream)]
    held = Bundle.read(zipped)
    name, structure = "series.sdmx.csv", json.loads(held.content("series.sdmx.json"))
    lines = list(csv.DictReader(io.StringIO(held.content(name).decode())))
    assert lines[-1]["VALUE"] == code
    assert f'"{code}"' in json.dumps(structure)
    for each in ("_T", "_U", "_Z", ""):
        contents = {own: held.content(file) for file, own in held.entries.items()}
        contents[held.entries[name]] = held.content(name).replace(f'"{code}"'.encode(), f'"{each}"'.encode())
        coded = Bundle.read(forging.zipped(tmp_path / "coded.zip", contents))
        expected = State.HOLDS if each in {code, *others} else State.FAILED
        assert observations.check(coded, name, {}).state is expected, each


@pytest.mark.slow
@pytest.mark.parametrize("split", [False, True])
def test_a_page_says_of_each_file_what_the_bundle_says(dataset, tmp_path: Path, split: bool) -> None:
    stream = building.open_stream(dataset, split=split)
    update = Update(1, (4,) * len(stream.labels), Period.Source.TYPED)
    execution.publish(stream.pk, [update], noise=building.repeated_noise())
    stream = Stream.objects.get(pk=stream.pk)
    written = {file.name: file.about for file in bundle.write(stream, _series(stream), tmp_path)}
    offered = building.with_files(stream)
    assert {file.name: file.about for file in offered.files} == written
    assert offered.files[0].shown_name == "red-ones-so-far.zip"


def test_a_thinned_series_ends_with_the_last_period(running: Stream) -> None:
    series = evenly_spaced(running, 2)
    assert series is not None
    assert series.periods.tolist() == [2, 4]


def test_a_stream_without_a_period_has_no_series(stream: Stream) -> None:
    assert series_of(stream) is None
    assert evenly_spaced(stream, 2) is None


@pytest.mark.slow
def test_the_report_is_a_file_by_itself_with_chart_and_counts(running: Stream, tmp_path: Path) -> None:
    files = _written(running, tmp_path)
    text = files["report.html"].read_text()
    assert text.count('class="still"') == 2 and "New in each period" in text
    assert not re.search(r"(src|href)=|url\((?!.?data:|#)|@import|<script", text)
    last = files["series.csv"].read_text().splitlines()[-1].split(",")
    # The newest count, what is new in its period, and the ends of the intervals of both.
    for place in (3, 5, 6, 7, 9, 10):
        assert f">{int(last[place]):,}<".replace("-", "\N{MINUS SIGN}") in text


def _valid(package: Path) -> bool:
    import frictionless

    return bool(frictionless.validate(str(package)).valid)
