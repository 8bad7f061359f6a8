"""Files of many periods: what is read, what is refused, and that it is the same as one by one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from dpportal.datasets import records, services as dataset_services
from dpportal.jobs.claims import Claim, claim
from dpportal.operations.sweeping import sweep_files
from dpportal.streams import bulk_csv, bundle, execution, job_execution, series, services, tokens
from dpportal.streams.bulk_csv import ManyError
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream, StreamJob
from mechanisms.domain import Categorical
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building as world
from tests.dpportal.streams import building
from tests.dpportal.streams.true_sums import true_sums

COVID = Path(__file__).parents[2] / "data" / "us_covid_daily.csv"
US_DATES = "%m/%d/%Y"
OPTIONS = {"column": "new_cases", "dates": US_DATES}


def queue(stream: Stream, text: str | bytes, **options: Any) -> StreamJob:
    content = text if isinstance(text, bytes) else text.encode()
    file = ContentFile(content, "counts.csv")
    return services.queue_counts(stream, file, options, stream.created_by, confirmed=True)


def done(job: StreamJob) -> StreamJob:
    job_execution.STREAM_JOBS.run(job.pk)
    job.refresh_from_db()
    return job


def failure(stream: Stream, text: str | bytes, **options: Any) -> str:
    """Why a file is refused, nothing being published of it."""
    before = stream.periods.count()
    job = done(queue(stream, text, **options))
    assert job.state == "failed"
    assert stream.periods.count() == before
    return job.failure


def taken(job: StreamJob) -> Claim:
    held = claim(StreamJob, job.pk)
    assert held is not None
    return held


@pytest.mark.slow
def test_542_days_in_one_file_and_day_by_day_by_program_publish_the_same(dataset, monkeypatch) -> None:
    at_once, by_day = (building.daily_stream(dataset, amount=amount) for amount in building.HALVES)
    job = queue(at_once, COVID.read_bytes(), **OPTIONS)
    job_execution.publish_counts(job, taken(job), noise=building.repeated_noise())

    noise = building.repeated_noise()
    monkeypatch.setattr(execution, "secret_noise", lambda: noise)
    monkeypatch.setattr(tokens, "REQUESTS_PER_MINUTE", 1000)
    token = services.renew_token(by_day, by_day.created_by)
    client = Client(headers={"Authorization": f"Bearer {token}"})
    for line in COVID.read_text().splitlines()[1:]:
        day, cases, _deaths = line.split(",")
        month, day_of_month, year = day.split("/")
        body = {"period": f"{year}-{month:0>2}-{day_of_month:0>2}", "counts": int(cases)}
        answer = client.post(f"/streams/{by_day.pk}/periods", json.dumps(body), "application/json")
        assert answer.status_code == 201

    columns = ("index", "released", "half_width")
    series = list(at_once.periods.values_list(*columns))
    assert len(series) == 542
    assert list(by_day.periods.values_list(*columns)) == series


@pytest.mark.slow
def test_the_true_running_counts_of_the_file_are_kept_for_the_curator(dataset) -> None:
    stream = building.daily_stream(dataset)
    done(queue(stream, COVID.read_bytes(), **OPTIONS))
    cases = [int(line.split(",")[1]) for line in COVID.read_text().splitlines()[1:]]
    true = true_sums(stream.periods.all())
    assert true is not None
    assert [sums[0] for sums in true] == [sum(cases[: i + 1]) for i in range(542)]


@pytest.mark.slow
def test_a_job_that_died_goes_on_where_it_was(stream, monkeypatch) -> None:
    monkeypatch.setattr(job_execution, "BATCH", 2)
    text = "period,count\n" + "".join(f"{i},{i}\n" for i in range(1, 10))
    job = queue(stream, text)
    held = taken(job)
    real, calls = execution.publish, []

    def dying(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise MemoryError
        return real(*arguments, **named)

    monkeypatch.setattr(execution, "publish", dying)
    with pytest.raises(MemoryError):
        job_execution.publish_counts(job, held)
    seen = list(stream.periods.values())
    assert len(seen) == 4
    job_execution.publish_counts(job, held)
    assert list(stream.periods.values())[:4] == seen
    assert stream.periods.count() == 9
    job.refresh_from_db()
    assert (job.state, job.progress, job.progress_total) == ("done", 9, 9)


@pytest.mark.slow
def test_a_file_may_begin_with_what_is_published(stream) -> None:
    done(queue(stream, "period,count\n1,4\n2,5\n"))
    job = done(queue(stream, "period,count\n1,4\n2,5\n3,6\n"))
    assert (job.state, stream.periods.count()) == ("done", 3)


@pytest.mark.slow
def test_of_what_is_published_a_file_changes_nothing_whatever_it_says(stream) -> None:
    done(queue(stream, "period,count\n1,4\n"))
    assert done(queue(stream, "period,count\n1,5\n2,5\n")).state == "done"
    assert true_sums(stream.periods.all()) == [[4], [9]]


def test_counts_for_several_values(dataset) -> None:
    stream = building.open_stream(dataset, split=True)
    done(queue(stream, "blue;red;Other;period;green\n3;1;0;1;2\n"))
    assert true_sums(stream.periods.all()) == [[1, 2, 3, 0]]


def test_lines_without_anything_are_passed_over(stream) -> None:
    """As spreadsheets write them below a table, and people between its parts."""
    done(queue(stream, "period,count\r\n\r\n1,4\r\n  \r\n2,5\r\n,\r\n"))
    assert true_sums(stream.periods.all()) == [[4], [9]]


WRONG_FILES: list[tuple[str | bytes, str]] = [
    ("", "first line"),
    ("period,count\n", "no period"),
    ("1,4\n2,5\n", "first line"),
    ("period,date,count\n1,2020-01-01,4\n", "exactly one"),
    ("period,a,b\n1,2,3\n", "Name the one"),
    ("period,count,count\n1,2,3\n", "same name"),
    ("period,count\n1,-4\n", "Line 2: A count must not be negative"),
    ("period,count\n1,4.5\n", "Line 2: A count must be a whole number"),
    ("period,count\n1,\n", "Line 2: A count must be a whole number"),
    ("period,count\n1,4\n2,many\n", "Line 3: A count must be a whole number"),
    ("period,count\n1,4,5\n", "Line 2: it has more or fewer fields"),
    ("period,count\n2,4\n", "Period 1 is due next"),
    ("period,count\n1,4\n3,4\n", "another period than 2 follows 1"),
    ("period,count\n1,4\n1,4\n", "another period than 2 follows 1"),
    ("period,count\n2,4\n1,4\n", "Period 1 is due next"),
    ("period,count\nsoon,4\n", "Line 2: Give the period as its number"),
    ("period,count\n0,4\n", "Line 2: That period lies before"),
    ("period,count\n" + "".join(f"{i},1\n" for i in range(1, 14)), "beyond them"),
    (b"\xff\xfe\x00\x01", "not a text file"),
    (b"period,count\n1,\xff\n", "not a text file"),
    (b"period,count\n1,\x00\n", "Line 2"),
    ('period,count\n1,"4\n', "not a text file"),
    ("period,count\n1," + "9" * 1_000, "Line 2: A count must be a whole number"),
]


def test_a_wrong_file_is_refused_before_anything_is_published(stream) -> None:
    for text, told in WRONG_FILES:
        assert told in failure(stream, text)


@pytest.mark.slow
def test_no_refusal_quotes_a_count(stream) -> None:
    for wrong in ("-7654321", "7654321.5", "7654321x"):
        assert "7654321" not in failure(stream, f"period,count\n1,{wrong}\n")


@pytest.mark.slow
def test_the_file_is_deleted_when_its_job_has_ended(stream) -> None:
    good, bad = "period,count\n1,4\n", "period,count\n"
    for text in (good, bad):
        job = queue(stream, text)
        file = job.file
        assert default_storage.exists(file)
        done(job)
        assert not default_storage.exists(file)


def test_the_sweep_deletes_files_of_no_job_and_keeps_those_that_wait(stream) -> None:
    job = queue(stream, "period,count\n1,4\n")
    lost = default_storage.save(
        f"{records.folder(stream.dataset_id)}/lost{services.WAITING}", ContentFile(b"1")
    )
    for name in (job.file, lost):
        os.utime(default_storage.path(name), (0, 0))
    sweep_files()
    assert [default_storage.exists(name) for name in (job.file, lost)] == [True, False]


def test_one_job_of_a_stream_at_a_time(stream) -> None:
    queue(stream, "period,count\n1,4\n")
    with pytest.raises(services.StreamError, match="Another job"):
        queue(stream, "period,count\n1,4\n")
    waiting = default_storage.listdir(records.folder(stream.dataset_id))[1]
    assert len([name for name in waiting if name.endswith(services.WAITING)]) == 1


def test_records_are_not_erased_under_a_job(stream) -> None:
    queue(stream, "period,count\n1,4\n")
    with pytest.raises(dataset_services.DatasetError, match="in work"):
        dataset_services.erase(stream.dataset, stream.created_by)


def records_file(rows: list[tuple[str, str]], header: str = "colour,age") -> ContentFile:
    return ContentFile("\n".join([header, *(",".join(row) for row in rows)]).encode(), "new.csv")


def counted(stream: Stream, file: ContentFile, index: int = 1) -> StreamJob:
    return done(services.queue_records(stream, index, file, stream.created_by))


ROWS = [("red", "30"), ("red", "170"), ("green", "5"), ("pink", "7"), ("", "-4"), ("red", "")]


@pytest.mark.slow
def test_a_file_of_records_is_counted_by_the_predicate(stream) -> None:
    job = counted(stream, records_file(ROWS))
    assert job.state == "done"
    assert true_sums(stream.periods.all()) == [[3]]
    assert Period.objects.get().source == "records"


@pytest.mark.slow
def test_what_is_odd_about_a_file_of_records_is_told(stream, client) -> None:
    """An open quotation mark spoils its own row, and that is seen."""
    job = counted(stream, ContentFile(b'colour,age\nred,1\n"red,2\nred",3\ngr\xff,4\n', "odd.csv"))
    assert true_sums(stream.periods.all()) == [[1]]
    told = job.options["told"]
    assert (told["broken_fields"], told["spoiled_rows"], told["replaced_bytes"]) == (0, 1, 1)
    client.force_login(stream.created_by)
    page = client.get(f"/streams/{stream.pk}/home/").content.decode()
    assert "1 row has more or fewer values" in page and "none of the encoding" in page


@pytest.mark.slow
@pytest.mark.parametrize("broken", [b"red,1,x", b'"red,1'])
def test_a_row_that_cannot_be_read_does_not_keep_the_period_from_being_published(
    stream, broken: bytes
) -> None:
    job = counted(stream, ContentFile(b"colour,age\nred,1\n" + broken + b"\nred,2\n", "odd.csv"))
    assert (job.state, true_sums(stream.periods.all())) == ("done", [[2]])


@pytest.mark.slow
def test_a_first_row_that_begins_like_another_format_decides_on_no_other(
    curious, curator, administrator
) -> None:
    """Whether a patient “PK17” is there, say, in a dataset without names of columns."""
    without_names = world.uploaded(curious, b"P1,red\nP2,blue\n" * 20, header="data")
    names = [column["name"] for column in without_names.columns]
    dataset_services.declare(without_names, names[1], Categorical(names[1], values=("red", "blue")))
    dataset_services.confirm_one_row(without_names, names, curator)
    world.granted(without_names, administrator)
    stream = building.open_stream(without_names, column=names[1])
    for index, first in enumerate((b"PK17", b"PK\x03\x04", b"%PDF-1.7 "), 1):
        job = counted(stream, ContentFile(first + b",red\n" + b"x%d,red\n" % index, "new.csv"), index)
        assert job.state == "done"
    assert true_sums(stream.periods.all()) == [[2], [4], [6]]


@pytest.mark.slow
def test_a_file_without_rows_is_a_zero(stream, curious) -> None:
    """A further one is not the same records again: it holds none."""
    for index, content in enumerate((b"colour,age\n", b"colour,age\n", b"\n", b""), 1):
        file = SimpleUploadedFile("none.csv", content)
        curious.post(f"/streams/{stream.pk}/add/records/", {"index": str(index), "file": file})
        assert done(stream.jobs.latest("queued_at")).state == "done"
    assert true_sums(stream.periods.all()) == [[0]] * 4


@pytest.mark.slow
def test_a_file_of_records_is_counted_for_each_value(dataset) -> None:
    """Undeclared and missing values are in “Other”."""
    stream = building.open_stream(dataset, split=True)
    counted(stream, records_file(ROWS))
    assert true_sums(stream.periods.all()) == [[3, 1, 0, 2]]


@pytest.mark.slow
def test_every_row_is_counted_without_a_column(dataset) -> None:
    stream = building.open_stream(dataset, column="", cells=[])
    counted(stream, records_file(ROWS))
    assert true_sums(stream.periods.all()) == [[6]]


@pytest.mark.slow
def test_a_summed_column_is_clipped_to_its_bounds_and_missing_adds_nothing(dataset, tmp_path) -> None:
    """Ages are declared as 0..99: the red rows add 30, 99 and 0."""
    stream = building.open_stream(dataset, summed="age")
    assert stream.plan.request.largest == 99
    counted(stream, records_file(ROWS))
    assert true_sums(stream.periods.all()) == [[129]]
    files = {file.name: file.path for file in bundle.write(stream, series.newest(stream, 1), tmp_path)}
    assert json.loads(files["release.json"].read_text())["counted"]["summed_between"] == [0, 99]
    assert "Values below 0 count as 0, those above 99 as 99." in files["README.md"].read_text()
    [archive] = [path for name, path in files.items() if name.endswith(".zip")]
    assert [each for each in verify(Bundle.read(archive)) if each.state is State.FAILED] == []
    services.publish(stream, stream.created_by)
    page = " ".join(Client().get(f"/streams/{stream.pk}/").text.split())
    assert "the total of age" in page
    assert "Values of age below 0 count as 0, those above 99 as 99." in page


@pytest.mark.slow
def test_a_file_of_one_row_more_than_the_declared_largest_is_published_all_the_same(dataset, client) -> None:
    """Whether that row is there must not decide whether the period is."""
    stream = building.open_stream(dataset, largest_increment=20)
    jobs = [
        counted(stream, records_file([("red", str(40 * index + row)) for row in range(rows)]), index)
        for index, rows in enumerate((20, 21), 1)
    ]
    assert [(job.state, set(job.options)) for job in jobs] == [("done", {"told", "used"})] * 2
    assert true_sums(stream.periods.all()) == [[20], [40]]
    client.force_login(stream.created_by)
    page = client.get(f"/streams/{stream.pk}/compare/").text
    assert "Clipped in 1 of 2 periods." in page and "<small>clipped</small>" in page
    public = services.publish(stream, stream.created_by) or Client().get(f"/streams/{stream.pk}/").text
    assert "lipped" not in public and "lipped" not in client.get(f"/streams/{stream.pk}/home/").text


@pytest.mark.slow
def test_a_file_without_the_column_is_refused_by_the_column_s_name(stream) -> None:
    job = counted(stream, records_file([("x", "1")], header="farbe,age"))
    assert (job.state, stream.periods.count()) == ("failed", 0)
    assert "colour" in job.failure


@pytest.mark.slow
def test_a_file_that_is_no_table_is_refused(stream) -> None:
    job = counted(stream, ContentFile(b"\x00\x01\x02" * 100, "new.parquet"))
    assert (job.state, stream.periods.count()) == ("failed", 0)


def test_a_stream_of_people_with_several_rows_takes_no_files_of_records(dataset) -> None:
    dataset_services.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=3)
    stream = building.open_stream(dataset)
    with pytest.raises(services.StreamError, match="at most 3 of each person"):
        services.queue_records(stream, 1, records_file(ROWS), stream.created_by)


@pytest.mark.slow
def test_counting_the_same_file_again_after_a_crash_draws_nothing(stream) -> None:
    job = counted(stream, records_file(ROWS))
    first = list(Period.objects.values())
    job.file = default_storage.save(f"streams/{stream.pk}/again", records_file(ROWS))
    job.state = "queued"
    job.save()
    assert (done(job).options["used"], list(Period.objects.values())) == (True, first)


@pytest.mark.slow
def test_a_file_that_came_after_its_period_was_published_is_not_used_and_its_curator_is_told(
    stream, curious
) -> None:
    job = services.queue_records(stream, 1, records_file(ROWS), stream.created_by)
    execution.publish(stream.pk, [Update(1, (3,), Period.Source.PROGRAM)])
    assert (done(job).options["used"], true_sums(stream.periods.all())) == (False, [[3]])
    assert "new.csv was not used" in curious.get(f"/streams/{stream.pk}/home/").text


def test_reading_stops_at_the_first_wrong_line(stream) -> None:
    updates = bulk_csv.read(iter(["period,count\n", "1,5\n", "x,y\n"]), stream)
    assert next(updates) == Update(1, (5,), "counts")
    with pytest.raises(ManyError, match="Line 3"):
        next(updates)
