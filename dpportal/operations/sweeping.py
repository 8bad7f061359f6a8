"""The sweep: lost jobs come back, and files that no row points to go."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from dpportal.accounts import reset_limits, tasks as account_tasks
from dpportal.accounts.session_store import SessionStore
from dpportal.approvals import services as approvals
from dpportal.catalogue import bundle_checks
from dpportal.datasets import (
    demo_marker,
    derived,
    direct_upload,
    key_traces,
    keys,
    records,
    resumable_upload,
    retention,
    stored_fits,
)
from dpportal.datasets.begun_uploads import UploadPiece
from dpportal.datasets.models import Dataset, Fit
from dpportal.history import checkpoints, heads
from dpportal.jobs.claims import JobState
from dpportal.jobs.runner import kinds
from dpportal.notices import delivery_job
from dpportal.operations import demonstration, erased_again, withdrawn_again
from dpportal.operations.stored_folders import STORED
from dpportal.platform import bulkhead, journal, storage
from dpportal.platform.bulkhead import HangsError
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.sealing_faults import KeyMissingFault
from dpportal.releases import execution, file_imprints, tasks as release_tasks
from dpportal.releases.models import Artifact, Release
from dpportal.releases.products.queries import matrices, strategies, workloads
from dpportal.streams import downloads, tasks as stream_tasks
from dpportal.streams.models import SeriesBundle, StreamJob
from dpportal.value_choices import execution as value_choices

log = logging.getLogger(__name__)

# Longer than any job may run, so that no file is taken from under one.
ORPHANS_AFTER = timedelta(hours=3)
# More than the clocks of a file server and of the portal may: what is dated further ahead has another's date.
CLOCKS_DIFFER = timedelta(hours=3)
# Whether files are meant, by when they were written.
WasWritten = Callable[[datetime], bool]
NAMED_BY_CONTENT = (f"{matrices.FOLDER}/", f"{strategies.FOLDER}/")
FILES_EVERY_SECONDS = 3600.0


def sweep_jobs() -> None:
    """Hint again at every job whose worker or message was lost; go on with what the portal loads by itself.

    What fails of one kind or in one room keeps no other from its turn; the first failure is raised in the end.
    """
    rooms = (
        release_tasks.sweep,
        stream_tasks.sweep,
        value_choices.void_left,
        account_tasks.sweep,
        approvals.expire,
        key_traces.sweep,
        withdrawn_again.sweep,
        erased_again.sweep,
    )
    failures = _failures_of(*rooms, *(kind.sweep for kind in kinds()))
    _write_checkpoint()
    _keep_head()
    if demo_marker.is_pending():
        demonstration.go_on_if_possible()
    if failures:
        raise failures[0]


def _failures_of(*sweeps: Callable[[], None]) -> list[Exception]:
    """Those of all of them, each of which has its turn."""
    return [failure for sweep in sweeps if (failure := _failure_of(sweep)) is not None]


def _failure_of(sweep: Callable[[], None]) -> Exception | None:
    try:
        sweep()
    except Exception as failure:
        connection.close_if_unusable_or_obsolete()
        return failure
    return None


def sweep_files() -> None:
    """Delete uploads, tables, measurements and bundles that nothing committed points to: they were never released.

    As of jobs, what fails in one room keeps no other from its turn: not the day of erasure of somebody else's records.
    A file of a job in work stays, and none is deleted that was written since the sweep began to look: however long it,
    or a worker, is stopped on the way, nothing goes that could still be pointed to. So it is asked which jobs are in
    work before it is asked what rows point to.
    """
    failures = _failures_of(
        SessionStore.clear_expired,
        reset_limits.forget,
        _give_up_uploads,
        resumable_upload.sweep,
        release_tasks.sweep_words,
        downloads.request_all,
        bundle_checks.forget,
        delivery_job.forget,
        retention.sweep,
        _erase_again,
        derived.sweep,
        withdrawn_again.remember_all,
        erased_again.remember_all,
        _delete_orphans,
        _clear_disk,
    )
    if failures:
        raise failures[0]


def _give_up_uploads() -> None:
    direct_upload.sweep(STORED)


def _erase_again() -> None:
    """What was to be erased where the storage did not answer when it should have."""
    for erased in Dataset.objects.filter(state=Dataset.State.ERASED):
        records.erase(erased)


def _delete_orphans() -> None:
    for name in orphans():
        if name.startswith(NAMED_BY_CONTENT):
            _delete_unless_stored_again(name)
        else:
            default_storage.delete(name)
    keys.forget_unused(timezone.now() - ORPHANS_AFTER)


def _delete_unless_stored_again(name: str) -> None:
    """Delete a file whose name is its content's digest, and so can come back: kept, if something points to it by then.

    However long this stands still before it deletes.
    """
    with storage.scratch_folder() as scratch, suppress(FileNotFoundError):
        with storage.local_path(name) as stored:
            copy = Path(shutil.copyfile(stored, scratch / stored.name))
        default_storage.delete(name)
        if name in strategies.stored_names() | named_matrices(Release.objects.all()):
            storage.keep(copy, name)


def _clear_disk() -> None:
    storage.clear_scratch()
    _sweep_old(settings.SCRATCH_DIR)
    _sweep_old(settings.BROKER_DIR, beginning=".")  # messages that were half written, or half taken
    with suppress(
        OSError, HangsError
    ):  # a memory that is not there, that nobody may write, or that does not answer
        bulkhead.MEMORY.call(lambda: _sweep_old(settings.MEMORY_DIR / journal.PARTS))


def _write_checkpoint() -> None:
    """What keeps it from being written keeps nothing else of the sweep waiting."""
    try:
        checkpoints.write_if_due()
    except OSError as fault:
        log.warning("no checkpoint of the history was written: %s", fault.strerror)
    except KeyMissingFault:
        log.warning("no checkpoint of the history was written: the master key is missing")


def _keep_head() -> None:
    try:
        heads.keep()
    except MemoryFaultError as fault:
        log.warning("the memory was not told how far the history is: %s", fault)


def orphans() -> Iterator[str]:
    """Old stored files that nothing committed points to, and that no job in work may still point to."""
    before = timezone.now() - ORPHANS_AFTER
    return _unnamed(lambda written: written < before)


def dated_ahead() -> Iterator[str]:
    """The same of those that bear a time to come: how old they are nobody knows, so nobody deletes them."""
    now = timezone.now()
    return _unnamed(lambda written: written > now + CLOCKS_DIFFER)


def _unnamed(is_meant: WasWritten) -> Iterator[str]:
    # Asked before rows are: what a job stores, and points to, in between is known.
    in_work = _files_in_work()
    searches_end = not strategies.STRATEGIES.jobs().filter(state=JobState.RUNNING).exists()
    yield from _orphaned_records(is_meant, in_work)
    yield from storage.orphans(downloads.FOLDER, in_work | downloads.stored_names(), is_meant)
    if searches_end:  # which of the files is a running search's, nothing says
        yield from storage.orphans(strategies.FOLDER, strategies.stored_names(), is_meant)
    yield from storage.orphans(bundle_checks.FOLDER, bundle_checks.stored_names(), is_meant)
    yield from storage.orphans(matrices.FOLDER, named_matrices(Release.objects.all()), is_meant)


def _files_in_work() -> set[str]:
    """What running jobs have stored so far, which their rows are about to point to."""
    running = JobState.RUNNING
    folders = [
        records.folder(pk)
        for pk in Dataset.objects.filter(conversion__state=running).values_list("pk", flat=True)
    ]
    folders += [
        f"releases/{pk}" for pk in Release.objects.filter(job__state=running).values_list("pk", flat=True)
    ]
    folders += [
        downloads.folder_of(pk)
        for pk in SeriesBundle.objects.filter(state=running).values_list("pk", flat=True)
    ]
    return {name for folder in folders for name in storage.names_under(folder)}


def _orphaned_records(is_meant: WasWritten, known: set[str]) -> Iterator[str]:
    """What nothing names; nothing at all while it cannot be known what the memory names."""
    try:
        known |= execution.pending_files()
    except MemoryFaultError as fault:
        log.warning("no stored file is deleted: %s", fault)
        return
    known |= {name for row in Dataset.objects.values_list("upload", "table") for name in row}
    known |= {name for row in Release.objects.values_list("measurement", "true_counts") for name in row}
    compared = Release.objects.exclude(dataset__state=Dataset.State.ERASED).values_list("dataset_id", "pk")
    known |= {records.comparison_name(*row) for row in compared}
    known |= {stored_fits.name_of(*row) for row in Fit.objects.values_list("dataset_id", "asked")}
    known |= set(Artifact.objects.values_list("stored", flat=True))
    known |= set(UploadPiece.objects.values_list("stored", flat=True))
    known |= set(StreamJob.objects.values_list("file", flat=True))
    yield from storage.orphans("uploads", known, is_meant)
    yield from storage.orphans("records", known, is_meant)
    for release in Release.objects.only("pk", "result").iterator(chunk_size=1000):
        known |= file_imprints.names_without_rows(release)
    yield from storage.orphans("releases", known, is_meant)


def named_matrices(releases: QuerySet[Release]) -> set[str]:
    """The uploaded matrices that these releases and drafts name."""
    drafts = releases.filter(product=Release.Product.QUERIES).values_list("parameters", flat=True)
    named = ([*workloads.digests(p.get("workload", "")), p.get("strategy", "")] for p in drafts)
    return {matrices.stored_name(digest) for digests in named for digest in digests if digest}


def _sweep_old(folder: Path, beginning: str = "") -> None:
    """Remove what broken uploads and killed processes left long ago, by the clock of the disk itself."""
    oldest = storage.local_now(folder) - ORPHANS_AFTER.total_seconds()
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # its owner was faster
            if path.name.startswith(beginning) and path.stat().st_mtime < oldest:
                storage.remove(path)
