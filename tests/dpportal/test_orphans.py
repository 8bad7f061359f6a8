"""What the hourly sweep deletes: only what neither a row, nor the memory, nor an attempt that can still win names."""

from __future__ import annotations

import shutil
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import F

from dpportal.budgets import charge_journal
from dpportal.datasets import records, stored_fits
from dpportal.datasets.models import Conversion, Fit
from dpportal.history import imprints
from dpportal.jobs.claims import JobState, reset_fields
from dpportal.jobs.memoised import StoredQuestion
from dpportal.operations import sweeping
from dpportal.releases import execution, file_imprints, results
from dpportal.releases.models import Release, ReleaseJob
from dpportal.releases.products import presenter_of
from dpportal.releases.products.queries import matrices
from dpportal.releases.products.queries.matrices import UploadedMatrix
from dpportal.releases.products.shared import stored_estimates
from dpportal.streams.models import SeriesBundle
from tests.dpportal.streams import building

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _hours_later(monkeypatch, tmp_path, settings):
    settings.SCRATCH_DIR = tmp_path
    monkeypatch.setattr(sweeping, "ORPHANS_AFTER", timedelta(0))


@pytest.fixture
def attempt(requested):
    """The files of an attempt that has measured and not committed."""
    names = [f"records/{requested.dataset_id}/counts-{requested.pk}-1-first.npy"]
    names += [f"releases/{requested.pk}/measurement/1/first.npy"]
    return [default_storage.save(name, ContentFile(b"numbers")) for name in names]


def stored(names) -> list[bool]:
    time.sleep(0.01)
    sweeping.sweep_files()
    return [default_storage.exists(name) for name in names]


def test_an_attempt_keeps_its_files_until_the_charge_has_settled_on_anothers(requested, attempt):
    assert stored(attempt) == [True, True]
    execution.RELEASES.run(requested.pk)
    requested.refresh_from_db()
    assert stored(attempt) == [False, False]
    assert stored([requested.measurement, requested.true_counts]) == [True, True]


@pytest.mark.slow
def test_what_the_memory_alone_names_stays_after_its_release_has_failed(requested, attempt):
    charge_journal.settle(requested.charge, {"measurement": attempt[1], "true_counts": attempt[0]})
    type(requested).objects.update(state="failed")
    assert stored(attempt) == [True, True]


@pytest.mark.slow
def test_an_attempt_keeps_its_files_while_its_release_could_not_be_made_void(requested, attempt):
    """A worker that sleeps can pay for them still: the memory took no file when the job was given up."""
    type(requested).objects.update(state="failed")
    ReleaseJob.objects.update(state="failed")
    assert stored(attempt) == [True, True]
    execution.void_left()
    assert stored(attempt) == [False, False]


def test_while_the_memory_is_lost_nothing_is_deleted(requested, attempt, memory_of_its_own):
    type(requested).objects.update(state="failed")
    shutil.rmtree(memory_of_its_own)
    assert stored(attempt) == [True, True]


def test_what_a_running_job_has_stored_stays(requested):
    names = [f"records/{requested.dataset_id}/table.parquet", f"releases/{requested.pk}/bundle/x/answers.csv"]
    names = [default_storage.save(name, ContentFile(b"half")) for name in names]
    running = [
        Conversion.objects.filter(dataset=requested.dataset_id),
        ReleaseJob.objects.filter(pk=requested.pk),
    ]
    for job in running:
        job.update(state="running")
    assert stored(names) == [True, True]
    for job in running:
        job.update(state="done")
    assert stored(names) == [False, False]


def test_what_running_writers_and_searches_have_stored_stays(dataset):
    """However long their machine slept: they may still commit the rows that point there."""
    stream = building.open_stream(dataset)
    names = [f"streams/{stream.pk}/first/series.csv", "strategies/found.npz"]
    names = [default_storage.save(name, ContentFile(b"half")) for name in names]
    search = {"key": "k", "answered_by": "Optimisation", "question": {}}
    for kind, own in ((SeriesBundle, {"stream": stream}), (StoredQuestion, search)):
        kind.objects.create(state="running", **own)
    assert stored(names) == [True, True]
    for kind in (SeriesBundle, StoredQuestion):
        kind.objects.update(state="done")
    assert stored(names) == [False, False]


def test_a_sweep_that_sleeps_deletes_nothing_that_came_after_it_began(dataset, monkeypatch):
    def asleep():
        time.sleep(0.01)
        names.append(default_storage.save(f"records/{dataset.pk}/new.parquet", ContentFile(b"new")))
        time.sleep(0.01)
        return set()

    names: list[str] = []
    monkeypatch.setattr(execution, "pending_files", asleep)
    sweeping.sweep_files()
    assert [default_storage.exists(name) for name in names] == [True]


def test_a_look_at_the_fit_that_a_late_worker_kept_goes_and_the_one_that_is_named_stays(dataset):
    names = [stored_fits.name_of(dataset.pk, asked) for asked in ("named", "late")]
    for name in names:
        default_storage.save(name, ContentFile(b"{}"))
    Fit.objects.create(dataset=dataset, asked="named", state="done")
    assert stored(names) == [True, False]


def test_a_matrix_that_is_uploaded_again_while_its_file_is_deleted_stays(draft, monkeypatch):
    """Its name is its content's digest, so a sweep that stood still could take what is paid for since."""
    matrix = UploadedMatrix(scipy.sparse.csr_array(np.eye(3)))
    name, delete = matrices.stored_name(matrices.store(matrix)), default_storage.delete

    def late(deleted: str) -> None:
        if deleted == name:
            matrices.store(matrix)
            workload = {"workload": f'uploaded("{Path(name).stem}")'}
            Release.objects.filter(pk=draft.pk).update(product=Release.Product.QUERIES, parameters=workload)
        delete(deleted)

    monkeypatch.setattr(default_storage, "delete", late)
    assert stored([name]) == [True]
    assert matrices.load(Path(name).stem).rows.shape == (3, 3)


def test_a_page_that_a_late_worker_writes_is_nobodys(ready, monkeypatch):
    """It could say what was taken back since, and differ from what the history has of the release's files."""
    public, store_page = results.page_name(ready), results.store_page
    written = []

    def late(*page) -> str:
        """After another worker has taken the job over and ended it."""
        ReleaseJob.objects.filter(pk=ready.pk).update(fence=F("fence") + 1, state=JobState.DONE)
        written.append(store_page(*page))
        return written[0]

    monkeypatch.setattr(results, "store_page", late)
    ReleaseJob.objects.filter(pk=ready.pk).update(**reset_fields())
    execution.RELEASES.run(ready.pk)
    assert results.page_name(Release.objects.get(pk=ready.pk)) == public
    assert stored([public, *written]) == [True, False]
    assert [*imprints.differences()] == []


def test_estimates_that_a_late_worker_keeps_are_nobodys(ready, monkeypatch):
    """On its machine the last digits may be others: readers' sums would not be those of the files any more."""
    released, written, late = np.array([3.0, 4.0]), [], np.array([3.5, 4.5])
    stored_estimates.keep_estimates(ready.result, released)
    file_imprints.note(ready, ready.artifacts.all(), file_imprints.loose_files(ready))
    keep = stored_estimates.keep_estimates

    def kept_late(page: str, _values: np.ndarray) -> None:
        ReleaseJob.objects.filter(pk=ready.pk).update(fence=F("fence") + 1, state=JobState.DONE)
        written.append(page.removesuffix(".json"))
        keep(page, late)

    monkeypatch.setattr(type(presenter_of(ready)), "stored_estimates", lambda *_: late)
    monkeypatch.setattr(stored_estimates, "keep_estimates", kept_late)
    ReleaseJob.objects.filter(pk=ready.pk).update(**reset_fields())
    execution.RELEASES.run(ready.pk)
    with stored_estimates.estimates(Release.objects.get(pk=ready.pk)) as known:
        assert known.tolist() == released.tolist()
    assert stored([*stored_estimates.stored_names(ready)[:1], *written]) == [True, False]
    assert [*imprints.differences()] == []


def test_files_of_any_ending_go_and_those_that_a_row_stands_for_stay(ready, dataset):
    erased = f"records/{dataset.pk}"
    names = [f"{erased}/table.csv", f"{erased}/deeper/x.txt", f"{erased}/none", f"{erased}/comparison-x.json"]
    names += [f"releases/{ready.pk}/e.txt", f"releases/{dataset.pk}/public.json", "matrices/x.exe"]
    names = [default_storage.save(name, ContentFile(b"left")) for name in names]
    own = [records.comparison_name(ready.dataset_id, ready.pk), results.page_name(ready), ready.true_counts]
    assert stored(names) == [False] * len(names)
    assert [name for name in own if not default_storage.exists(name)] == []
