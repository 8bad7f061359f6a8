"""A bucket of an S3-compatible server as the portal's private storage."""

from __future__ import annotations

import io
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from storages.backends.s3 import ReadBytesWrapper, S3Storage
from storages.utils import clean_name
from urllib3.exceptions import HTTPError

from dpportal.platform import bulkhead
from dpportal.platform.bulkhead import HangsError
from dpportal.platform.json_types import Json
from dpportal.platform.records_guard import require_reading
from dpportal.platform.storage import StorageFault, StorageForbidsFault, StorageFullFault

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from urllib3 import BaseHTTPResponse

log = logging.getLogger(__name__)
T = TypeVar("T")

# A server that is gone is told of soon: a person waits, or a job that is tried again by itself.
CONNECT_SECONDS, READ_SECONDS, TRIES = 5, 30, 3
# A file is sent in pieces of 8 MB, so many of them at a time.
PIECES = 4
READ_BYTES = 2**20
# A file that comes or goes more slowly than that is taken for one that does not: a thread, or a job, waits for it.
SLOWEST_BYTES_A_SECOND = 32 * 2**10
# However large a file is: a page waits no longer than a job, or the sweep could take it for one that nobody waits for.
LONGEST_SECONDS = 3600.0
NOT_FOUND, FORBIDDEN, FULL = 404, (401, 403), 507
# What servers call a bucket into which nothing more fits, whatever their status.
FULL_CODES = {"InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}
# The last one is for buckets where access lists are switched off.
PRIVATE = ("private", "bucket-owner-full-control", None)


class PrivateS3Storage(S3Storage):  # type: ignore[misc]
    """Files that only the portal's own account can read; they have no URL.

    Takes the options of django-storages' S3Storage. Raises StorageFault where the server does not do what it is asked.
    """

    def __init__(self, **options: object) -> None:
        config = _client_config(options.pop("addressing_style", "auto"))
        options = {
            "default_acl": "private",
            "client_config": config,
            "transfer_config": _transfer(),
            **options,
        }
        if options["default_acl"] not in PRIVATE:
            raise ImproperlyConfigured(
                "DPPORTAL_STORAGE_OPTIONS: default_acl must be private, bucket-owner-full-control or null, since "
                "people's records are kept there. Leave it out for private."
            )
        super().__init__(**{**options, "file_overwrite": True, "querystring_auth": True})

    @property
    def client(self) -> Any:
        return self.connection.meta.client

    def key(self, name: str) -> str:
        """What the server calls a file."""
        return cast(str, self._normalize_name(name))

    def write_parameters(self, name: str) -> Json:
        """What goes with everything that is written: access, encryption."""
        return cast(Json, self._get_write_parameters(name))

    def url(self, *_args: object, **_options: object) -> str:
        raise ValueError("private files have no URL")

    def abort_begun_before(self, moment: datetime, folders: Collection[str]) -> None:
        """Delete the parts of every file that was begun before and never made, in these folders of the storage."""
        places = tuple(f"{self.key(folder)}/" for folder in folders)
        for each in self._begun():
            if each["Initiated"] < moment and each["Key"].startswith(places):
                self.abort(each["Key"], each["UploadId"])

    def abort(self, key: str, upload: str) -> None:
        """Delete the parts that came of a file; nothing if nothing is there. key: in the bucket."""
        place = {"Bucket": self.bucket_name, "Key": key, "UploadId": upload}
        with suppress(FileNotFoundError):
            call_storage(lambda: self.client.abort_multipart_upload(**place))

    def _begun(self) -> list[Json]:
        """Every file that is on its way; some servers have no list where there never was one."""
        try:
            with translating_errors():
                pages = self.client.get_paginator("list_multipart_uploads").paginate(Bucket=self.bucket_name)
                return [each for page in pages for each in page.get("Uploads", ())]
        except FileNotFoundError:
            return []

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        """A file to be read once, from its beginning, as it comes; nothing of it is kept."""
        if mode != "rb":
            raise ValueError("stored files are read, or saved whole")
        require_reading(name)
        got = call_storage(lambda: self.client.get_object(Bucket=self.bucket_name, Key=self.key(name)))
        # urllib3's own answer: what botocore wraps around it cannot give out what is there.
        body = _Body(got["Body"]._raw_stream, got["ContentLength"])
        return File(io.BufferedReader(body, READ_BYTES), name)

    def _save(self, name: str, content: File[bytes]) -> str:
        content.seek(0, os.SEEK_SET)
        with translating_errors():
            bulkhead.SENDING.call(partial(self._send, name, content), longest_seconds(content.size))
        return cast(str, clean_name(name))

    def _send(self, name: str, content: File[bytes]) -> None:
        self.client.upload_fileobj(
            _Content(content),
            self.bucket_name,
            self.key(name),
            ExtraArgs=self._get_write_parameters(name, content),
            Callback=_Sent(),
            Config=self.transfer_config,
        )

    def delete(self, name: str) -> None:
        call_storage(partial(super().delete, name))

    def exists(self, name: str) -> bool:
        return bool(call_storage(partial(super().exists, name)))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        return cast(tuple[list[str], list[str]], call_storage(partial(super().listdir, path)))

    def size(self, name: str) -> int:
        return int(call_storage(partial(super().size, name)))

    def get_modified_time(self, name: str) -> datetime:
        return cast(datetime, call_storage(partial(super().get_modified_time, name)))


def longest_seconds(size: int) -> float:
    """How long a server may take to accept a file of so many bytes, and to say so."""
    return min(LONGEST_SECONDS, TRIES * (CONNECT_SECONDS + READ_SECONDS) + size / SLOWEST_BYTES_A_SECOND)


class _Content(ReadBytesWrapper):  # type: ignore[misc]
    """A file that is sent, which its owner closes; s3transfer would."""

    def close(self) -> None:
        """Do nothing: the file stays open."""


class _Pace:
    """Whether a file moves fast enough: it may stand still for READ_SECONDS, and longer for each byte that moved."""

    def __init__(self) -> None:
        self.waited, self.patience = 0.0, float(READ_SECONDS)

    def add(self, moved: int, seconds: float) -> None:
        """moved: bytes, fewer than none where some are sent again. Raises StorageFault if it is too slow."""
        self.waited += seconds
        self.patience += moved / SLOWEST_BYTES_A_SECOND
        if self.waited > self.patience:
            log.error("storage moves a file too slowly")
            raise StorageFault


class _Sent:
    """Hears of the bytes of a file as a connection takes them, from several threads; ends what is too slow."""

    def __init__(self) -> None:
        self.pace, self.heard_at, self.lock = _Pace(), time.monotonic(), threading.Lock()

    def __call__(self, moved: int) -> None:
        with self.lock:
            now = time.monotonic()
            seconds, self.heard_at = now - self.heard_at, now
            self.pace.add(moved, seconds)


class _Body(io.RawIOBase):
    """What a server sends of a file. One that ends early, or comes too slowly, is a fault, too."""

    def __init__(self, body: BaseHTTPResponse, size: int) -> None:
        self.body = body
        self.missing = size
        # The pace over the time that was spent waiting for bytes.
        self.pace = _Pace()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        if not self.missing or not len(view):
            return 0
        begun = time.monotonic()
        # As much as is there: a read that fills the buffer would wait for as long as any byte comes.
        data = call_storage(partial(self.body.read1, min(len(view), self.missing)))
        self.pace.add(len(data), time.monotonic() - begun)
        if not data:
            log.error("storage sends a file that ends early")
            raise StorageFault
        self.missing -= len(data)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.body.close()
        super().close()


def call_storage(question: Callable[[], T]) -> T:
    """The server's answer; not all of a web server's threads may wait for it. Raises as `translating_errors`."""
    with translating_errors():
        return bulkhead.STORE.call(question)


@contextmanager
def translating_errors() -> Iterator[None]:
    """Raises FileNotFoundError for a file that is not there, StorageFault for every other trouble with the server."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        if status == NOT_FOUND:
            raise FileNotFoundError(code) from None
        log.error("storage refused %s: %s", error.operation_name, code)
        raise _refusal(status, code) from None
    except (BotoCoreError, HTTPClientError, Boto3Error, HTTPError, HangsError) as error:
        log.error("storage does not answer: %s", type(error).__name__)
        raise StorageFault from None


def _refusal(status: int, code: str) -> StorageFault:
    """The fault that says what somebody has to do about it."""
    if status in FORBIDDEN:
        return StorageForbidsFault()
    return StorageFullFault() if status == FULL or code in FULL_CODES else StorageFault()


def _client_config(addressing: object) -> Config:
    """Checksums only where S3 requires them: compatible servers do not know all; what matters has a digest here."""
    return Config(
        signature_version="s3v4",
        s3={"addressing_style": addressing},
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": TRIES, "mode": "standard"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


def _transfer() -> TransferConfig:
    config = TransferConfig(max_concurrency=PIECES)
    # Pieces that wait to be sent are held in memory, ten by default.
    config.max_in_memory_upload_chunks = PIECES
    return config
