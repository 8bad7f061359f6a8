"""Private files, through Django's storage API: written durably, opened as local paths."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import cast

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from dpportal.platform.durable_files import PART, fsync, make_folder
from dpportal.platform.records_guard import require_reading

log = logging.getLogger(__name__)

# Begins the name of a scratch folder.
OWN = "work-"
# So many more files must be possible on the disk, or a hundredth of all.
FREE_INODES = 1000
# So many are written to find out whether a file can be: one without content fits where its owner may use no more.
TRIED_BYTES = 4096
# Nothing more fits on the disk, or into what its owner may use of it.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
# The disk was mounted read-only, which a kernel does after a fault, does not read or write, or is gone.
DISK_FAULTS = (*NO_SPACE, errno.EROFS, errno.EIO, errno.ESTALE, errno.ENODEV)


class PrivateStorage(FileSystemStorage):
    """Files that only the portal's own account can read; they have no URL."""

    def __init__(self, location: str | Path | None = None) -> None:
        super().__init__(
            location=location, base_url=None, file_permissions_mode=0o600, directory_permissions_mode=0o700
        )

    def url(self, name: str | None) -> str:
        raise ValueError("private files have no URL")

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        require_reading(os.path.relpath(self.path(name), self.location))
        return cast("File[bytes]", super()._open(name, mode))  # type: ignore[misc]

    def _save(self, name: str, content: File[bytes]) -> str:
        with on_disk():
            return str(super()._save(name, content))  # type: ignore[misc]

    def delete(self, name: str) -> None:
        with on_disk():
            super().delete(name)


class DiskFullError(Exception):
    """Too little space is left on the data disk to begin; the message is for the person or job that tried."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "The portal's disk is nearly full, so nothing new is begun. Ask an administrator to make space."
            )
        )


class StorageFault(Exception):  # noqa: N818 a fault of the server that keeps the files, not of the portal
    """Stored files cannot be reached or written now; the message is for the person or job that tried."""

    def __init__(self, message: str = "") -> None:
        super().__init__(
            message
            or _(
                "The portal's file storage does not answer, so nothing was begun. Try again in a few minutes, and tell "
                "an administrator if it lasts."
            )
        )


class StorageForbidsFault(StorageFault):
    """The storage refuses the portal's account; only an administrator can help."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "The portal's file storage refuses the portal, so nothing was begun. Ask an administrator to see to "
                "the account's keys and to its rights to read, write, delete and list; then try again."
            )
        )


class StorageFullFault(StorageFault):
    """Nothing more fits into the storage."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "The portal's file storage is full, so nothing was begun. Ask an administrator to make space there; "
                "then try again."
            )
        )


def floor() -> int:
    """The bytes that must stay free, at most a tenth of the disk."""
    return min(settings.MIN_FREE_BYTES, shutil.disk_usage(settings.DATA_DIR).total // 10)


def is_full(more: int = 0) -> bool:
    """Whether less than the floor would be left after writing `more` bytes, or hardly a new file could be named."""
    return shutil.disk_usage(settings.DATA_DIR).free - more < floor() or not _has_inodes()


def _has_inodes() -> bool:
    """Whether files can be made."""
    least = min(FREE_INODES, os.statvfs(settings.DATA_DIR).f_files // 100)
    return (free := free_files()) is None or free >= least


def free_files() -> int | None:
    """How many more files the disk has room for; some file systems count none."""
    disk = os.statvfs(settings.DATA_DIR)
    return disk.f_favail if disk.f_files else None


def obstacle() -> str:
    """Why this machine can store no file on its own disk, for an administrator; empty if it can."""
    for folder in (_own_folder(), Path(settings.SCRATCH_DIR)):
        try:
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                with tempfile.NamedTemporaryFile(prefix=OWN, suffix=PART, dir=folder) as file:
                    file.write(bytes(TRIED_BYTES))
        except OSError as fault:
            return _unwritable_text(folder, fault)
    return ""


def _own_folder() -> Path | None:
    """The folder of stored files, if it is on this machine."""
    try:
        return Path(default_storage.path(""))
    except NotImplementedError:
        return None


def _unwritable_text(folder: Path | None, fault: OSError) -> str:
    text = _(
        "No file can be written in %(folder)s: %(fault)s. Make it writable for the account that the portal runs as."
    )
    return text % {"folder": folder, "fault": fault.strerror}


def require_space(more: int = 0) -> None:
    """Raise DiskFullError if less than the floor would be left after writing `more` bytes."""
    if is_full(more):
        raise DiskFullError


def is_local() -> bool:
    """Whether stored files lie in a folder, and not on a server that is asked for each."""
    return isinstance(default_storage, FileSystemStorage)


@contextmanager
def local_path(name: str) -> Iterator[Path]:
    """A path at which a stored file can be read: its own on a local storage, else a copy on disk for the while.

    Raises DiskFullError if the disk has no space for the copy, RecordsRefusedError for records that others read.
    """
    require_reading(name)
    try:
        own: Path | None = Path(default_storage.path(name))
        require_reading(os.path.relpath(default_storage.path(name), default_storage.path("")))
    except NotImplementedError:
        own = None
    if own is not None:
        yield own
        return
    require_space(default_storage.size(name))
    with scratch_folder() as folder:
        copy = folder / Path(name).name
        with default_storage.open(name) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        yield copy


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A private folder on the data disk that is gone afterwards.

    It is locked as long as this process lives, so that what a killed one leaves can be told from what is in use.
    """
    folder, lock = _new_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _new_folder() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=OWN, dir=settings.SCRATCH_DIR))
        with suppress(FileNotFoundError):
            lock = _locked(folder)
            if folder.exists():
                return folder, lock
            os.close(lock)  # taken for a dead one's before it was locked


def clear_scratch() -> None:
    """Remove the scratch folders of dead processes. Files of libraries are not locked, and stay."""
    for folder in Path(settings.SCRATCH_DIR).glob(f"{OWN}*"):
        with suppress(OSError):  # in use, or gone meanwhile
            lock = _locked(folder, fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _locked(folder: Path, more: int = 0) -> int:
    """A descriptor that holds the folder's lock until it is closed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | more)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def keep(path: Path, name: str) -> str:
    """Store a local file under exactly `name`, fsynced where the storage is a local disk; moves it if it can.

    A file already there under that name is replaced in one step, so readers see the old or the new, never half.
    """
    keep_all({name: path})
    return name


def keep_all(files: Mapping[str, Path]) -> None:
    """The same of several, by name. Each folder is fsynced once, after all of its files have their names."""
    try:
        targets = {Path(default_storage.path(name)): path for name, path in files.items()}
    except NotImplementedError:
        for name, path in files.items():
            _upload(path, name)
        return
    with on_disk():
        folders = {target.parent for target in targets}
        for folder in folders:
            make_folder(folder)
        parts = {_complete_copy(target, path): target for target, path in targets.items()}
        for part, target in parts.items():
            part.replace(target)
        for folder in folders:
            fsync(folder)


def _upload(path: Path, name: str) -> None:
    if not getattr(default_storage, "file_overwrite", False):
        default_storage.delete(name)
    with path.open("rb") as file:
        default_storage.save(name, File(file))


def _complete_copy(target: Path, path: Path) -> Path:
    """A file of the target's folder with this content, which the disk has."""
    part = target.with_name(f"{target.name}.{uuid.uuid4().hex}{PART}")
    shutil.move(path, part)  # a rename, or a copy when the scratch folder is on another disk
    part.chmod(0o600)
    fsync(part)
    return part


@contextmanager
def on_disk() -> Iterator[None]:
    """Raises StorageFault where this machine's disk does not take a file, or does not let one go."""
    try:
        yield
    except OSError as fault:
        raise _as_storage_fault(fault) from None


@contextmanager
def disk_faults() -> Iterator[None]:
    """Raises StorageFault where something was to be written, wherever it was, and this machine's disk fails."""
    try:
        yield
    except OSError as error:
        if (fault := fault_of(error)) is None:
            raise
        raise fault from None


def fault_of(error: OSError) -> StorageFault | None:
    """The fault of this machine's disk behind an error, if it is one."""
    return _as_storage_fault(error) if error.errno in DISK_FAULTS else None


def _as_storage_fault(fault: OSError) -> StorageFault:
    log.error("this machine's disk fails: %s", fault.strerror)
    return StorageFullFault() if fault.errno in NO_SPACE else StorageFault()


def keep_under_random_name(path: Path, folder: str, beginning: str = "") -> str:
    """Store a file under a random name, which reveals nothing even to a guess at the content; returns the name."""
    return keep(path, random_name(folder, path.suffix, beginning))


def random_name(folder: str, ending: str, beginning: str = "") -> str:
    """A random name for a stored file."""
    return f"{folder}/{beginning}{uuid.uuid4()}{ending}"


def keep_by_digest(path: Path, folder: str) -> tuple[str, str]:
    """Store a file without data of people under its SHA-256; returns (name, digest)."""
    digest = sha256(path)
    return keep(path, f"{folder}/{digest}{path.suffix}"), digest


def sha256(path: Path) -> str:
    """The digest of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def orphans(folder: str, known: set[str], is_meant: Callable[[datetime], bool]) -> Iterator[str]:
    """Stored files of a folder whose names are not `known`, whatever they end in. is_meant: by when it was written."""
    for name in names_under(folder):
        with suppress(FileNotFoundError):  # gone meanwhile
            if name not in known and is_meant(default_storage.get_modified_time(name)):
                yield name


def delete_all(folder: str) -> None:
    """Delete the stored files of a folder into which nothing will be stored again."""
    for name in _listed(folder)[1]:
        default_storage.delete(f"{folder}/{name}")


def delete_once_committed(name: str) -> None:
    """Delete a stored file after this transaction commits; where that fails, the sweep does it.

    Not a partial: Django logs the name of a failed function, and a partial has none.
    """
    transaction.on_commit(lambda: default_storage.delete(name), robust=True)


def names_under(folder: str) -> Iterator[str]:
    """The names of the stored files in a folder and in all folders of it."""
    folders, files = _listed(folder)
    yield from (f"{folder}/{file}" for file in files)
    for inner in folders:
        yield from names_under(f"{folder}/{inner}")


def _listed(folder: str) -> tuple[list[str], list[str]]:
    """The folders and files in a folder. An object store has files only, whose names begin alike."""
    try:
        return default_storage.listdir(folder)
    except FileNotFoundError:
        return [], []


def local_now(folder: Path) -> float:
    """The time by the clock of this folder's file system, in seconds as `st_mtime`."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno()).st_mtime


def remove(path: Path) -> None:
    """Delete a local file or folder."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
