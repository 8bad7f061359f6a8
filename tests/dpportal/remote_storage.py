"""A storage without local paths, as an object store is; it lives as long as its test."""

from __future__ import annotations

from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage


class RemoteStorage(Storage):
    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def _open(self, name: str, mode: str = "rb") -> File:
        return ContentFile(self.files[name], name)

    def _save(self, name: str, content: File) -> str:
        self.files[name] = content.read()
        return name

    def delete(self, name: str) -> None:
        self.files.pop(name, None)

    def exists(self, name: str) -> bool:
        return name in self.files

    def size(self, name: str) -> int:
        return len(self.files[name])
