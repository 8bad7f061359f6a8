"""The sealed files that a connection of DuckDB may read, and what it writes for itself, as a file system of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem

from dpportal.platform.sealed_files import PROTOCOL, Reader, SealedPath, Writer, new_key


class SealedSystem(AbstractFileSystem):  # type: ignore[misc]
    """Opens the given files with their keys. Every other one is sealed with a key that only this connection has."""

    protocol = PROTOCOL
    cachable = False

    def __init__(self, *files: SealedPath) -> None:
        super().__init__()
        self._files = {str(file.path): file for file in files}
        self._own_key = new_key()

    @classmethod
    def own(cls, path: Path) -> str:
        """The address of a file that a connection writes for itself."""
        return f"{cls.protocol}://{path}"

    def _file(self, path: str) -> SealedPath:
        plain = path.removeprefix(f"{PROTOCOL}://")
        return self._files.get(plain) or SealedPath(Path(plain), self._own_key, plain)

    def open(self, path: str, mode: str = "rb", *_: Any, **__: Any) -> Reader | Writer:
        return Writer(self._file(path)) if mode.startswith("w") else Reader(self._file(path))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        file = self._file(path)
        return {"name": str(file), "size": file.size, "type": "file"}

    def exists(self, path: str, **_: Any) -> bool:
        return self._file(path).path.exists()

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._file(path).path.stat().st_mtime, UTC)

    def glob(self, path: str, **_: Any) -> list[str]:
        """The engine looks for patterns in every name; here each is one file."""
        return [path]
