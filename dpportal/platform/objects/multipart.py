"""A file that a browser sends to the bucket itself, in parts, each by an address that is signed for it alone.

The address is for one part of one file, of exactly the bytes that were announced, and for a quarter of an hour.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import default_storage

from dpportal.platform import bulkhead
from dpportal.platform.objects.s3 import PrivateS3Storage, call_storage, longest_seconds, translating_errors

# S3 takes at most so many parts, and none but the last smaller than 5 MB.
MOST_PARTS = 10_000
PART_BYTES = 16 * 2**20
LINK_SECONDS = 900


class IncompleteUploadError(Exception):
    """The file in the bucket is not the announced one."""


@dataclass(frozen=True)
class FileParts:
    """How a file of `size` bytes, at least 1, is cut: parts of `each` bytes, numbered from 1, the last one shorter."""

    size: int

    @property
    def each(self) -> int:
        return max(PART_BYTES, -(-self.size // MOST_PARTS))

    @property
    def number(self) -> int:
        return -(-self.size // self.each)

    def bytes_of(self, number: int) -> int:
        """Raises ValueError if there is no such part."""
        if not 1 <= number <= self.number:
            raise ValueError(f"number must be from 1 to {self.number}, got {number}")
        return min(self.each, self.size - (number - 1) * self.each)

    def as_sizes(self) -> dict[int, int]:
        return {number: self.bytes_of(number) for number in range(1, self.number + 1)}


def begin(name: str) -> str:
    """Begin an upload in parts; returns the server's id for it."""
    place = {**_place(name), **_storage().write_parameters(name)}
    return str(call_storage(lambda: _storage().client.create_multipart_upload(**place))["UploadId"])


def require_origin() -> None:
    """Raise ImproperlyConfigured unless signed addresses lead to the declared origin: pages may send nowhere else."""
    split = urlsplit(signed("name", "upload", 1, 1))
    if f"{split.scheme}://{split.netloc}" != settings.DIRECT_UPLOADS:
        raise ImproperlyConfigured(
            f"DPPORTAL_DIRECT_UPLOADS must be {split.scheme}://{split.netloc}, where the storage's addresses lead."
        )


def signed(name: str, upload: str, number: int, size: int) -> str:
    """The address to which a browser may put one part of exactly so many bytes."""
    part = {"UploadId": upload, "PartNumber": number, "ContentLength": size}
    address: str = _storage().client.generate_presigned_url(
        "upload_part", Params={**_place(name), **part}, ExpiresIn=LINK_SECONDS
    )
    return address


def finish(name: str, upload: str, parts: FileParts) -> None:
    """Make a file of its parts, if all are there and as long as announced. May be repeated.

    Raises IncompleteUploadError.
    """
    try:
        arrived = _parts(name, upload)
    except FileNotFoundError:  # it was made of them already, or given up
        arrived = None
    if arrived is not None:
        if {number: size for number, (size, _tag) in arrived.items()} != parts.as_sizes():
            raise IncompleteUploadError
        listed = [{"PartNumber": number, "ETag": tag} for number, (_size, tag) in sorted(arrived.items())]
        place = {**_place(name), "UploadId": upload, "MultipartUpload": {"Parts": listed}}
        with translating_errors():
            bulkhead.SENDING.call(
                lambda: _storage().client.complete_multipart_upload(**place), longest_seconds(0)
            )
    if not default_storage.exists(name) or default_storage.size(name) != parts.size:
        raise IncompleteUploadError


def abort(name: str, upload: str) -> None:
    """Delete the parts that arrived, if any."""
    _storage().abort(_storage().key(name), upload)


def _parts(name: str, upload: str) -> dict[int, tuple[int, str]]:
    """Size and mark of each part that came, by number."""
    pages = _storage().client.get_paginator("list_parts").paginate(**_place(name), UploadId=upload)
    came = call_storage(lambda: [part for page in pages for part in page.get("Parts", ())])
    return {part["PartNumber"]: (part["Size"], part["ETag"]) for part in came}


def _storage() -> PrivateS3Storage:
    """The portal's storage; a bucket, where direct uploads are configured."""
    from django.core.files.storage import storages

    storage = storages["default"]
    if not isinstance(storage, PrivateS3Storage):
        raise ImproperlyConfigured(
            "DPPORTAL_DIRECT_UPLOADS needs DPPORTAL_STORAGE=dpportal.platform.objects.s3.PrivateS3Storage."
        )
    return storage


def _place(name: str) -> dict[str, str]:
    return {"Bucket": _storage().bucket_name, "Key": _storage().key(name)}
