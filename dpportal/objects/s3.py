"""A bucket of an S3-compatible server as the portal's private storage."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, cast

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from storages.backends.s3 import S3Storage

from dpportal.storage import StorageFault

log = logging.getLogger(__name__)

# A server that is gone is told of soon: a person waits, or a job that is tried again by itself.
CONNECT_SECONDS, READ_SECONDS, TRIES = 5, 30, 3
# A file is sent in pieces of 8 MB, so many of them at a time.
PIECES = 4
READ_BYTES = 2**20
NOT_FOUND = 404
# The last one is for buckets where access lists are switched off.
PRIVATE = ("private", "bucket-owner-full-control", None)


class PrivateS3Storage(S3Storage):
    """Files that only the portal's own account can read; they have no URL.

    Takes the options of django-storages' S3Storage. Raises StorageFault where the server does not do what it is asked.
    """

    def __init__(self, **options: Any) -> None:
        addressing = options.pop("addressing_style", "auto")
        config = _client_config(addressing)
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

    def write_parameters(self, name: str) -> dict[str, Any]:
        """What goes with everything that is written: access, encryption."""
        return cast(dict[str, Any], self._get_write_parameters(name))

    def url(self, *_args: Any, **_options: Any) -> str:
        raise ValueError("private files have no URL")

    def _open(self, name: str, mode: str = "rb") -> File:
        """A file to be read once, from its beginning, as it comes; nothing of it is kept."""
        if mode != "rb":
            raise ValueError("stored files are read, or saved whole")
        with told():
            got = self.client.get_object(Bucket=self.bucket_name, Key=self.key(name))
        return File(io.BufferedReader(_Body(got["Body"]), READ_BYTES), name)

    def _save(self, name: str, content: File) -> str:
        with told():
            return cast(str, super()._save(name, content))

    def delete(self, name: str) -> None:
        with told():
            super().delete(name)

    def exists(self, name: str) -> bool:
        with told():
            return bool(super().exists(name))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        with told():
            return cast(tuple[list[str], list[str]], super().listdir(path))

    def size(self, name: str) -> int:
        with told():
            return int(super().size(name))

    def get_modified_time(self, name: str) -> datetime:
        with told():
            return cast(datetime, super().get_modified_time(name))


class _Body(io.RawIOBase):
    """What a server sends of a file. One that ends early is a fault, too."""

    def __init__(self, body: Any) -> None:
        self.body = body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        with told():
            data = self.body.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.body.close()
        super().close()


@contextmanager
def told() -> Iterator[None]:
    """Raises FileNotFoundError for a file that is not there, StorageFault for every other trouble with the server."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == NOT_FOUND:
            raise FileNotFoundError(code) from None
        log.error("storage refused %s: %s", error.operation_name, code)
        raise StorageFault from None
    except (BotoCoreError, HTTPClientError, Boto3Error) as error:
        log.error("storage does not answer: %s", type(error).__name__)
        raise StorageFault from None


def _client_config(addressing: str) -> Config:
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
