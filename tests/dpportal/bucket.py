"""A real S3 server for a test, as a process of its own: rclone serving a folder, which checks every signature."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.dpportal.portal_command.starting import free_port

NAME = "portal"
ACCESS_KEY, SECRET_KEY = "portal-key", "secret-of-the-portal"
PATIENCE_SECONDS = 120.0
BACKEND = "dpportal.platform.objects.s3.PrivateS3Storage"


@dataclass
class Bucket:
    """One bucket; the server can be stopped and started again, with all that is stored.

    origin: whose pages may send files to it.
    """

    folder: Path
    origin: str = ""
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self) -> dict[str, Any]:
        """Those of the storage class."""
        return {
            "bucket_name": NAME,
            "endpoint_url": self.address,
            "access_key": ACCESS_KEY,
            "secret_key": SECRET_KEY,
            "region_name": "us-east-1",
            "addressing_style": "path",
            "object_parameters": {"ServerSideEncryption": "AES256"},
        }

    @property
    def environment(self) -> dict[str, str]:
        return {"DPPORTAL_STORAGE": BACKEND, "DPPORTAL_STORAGE_OPTIONS": json.dumps(self.options)}

    @property
    def objects(self) -> Path:
        """The folder in which every file of the bucket lies under its key."""
        return self.folder / NAME

    def start(self) -> None:
        self.objects.mkdir(parents=True, exist_ok=True)
        program = shutil.which("rclone", path=str(Path(sys.executable).parent)) or "rclone"
        command = [program, "serve", "s3", "--addr", f"127.0.0.1:{self.port}"]
        command += ["--auth-key", f"{ACCESS_KEY},{SECRET_KEY}"]
        command += ["--allow-origin", self.origin] if self.origin else []
        environment = {**os.environ, "RCLONE_CONFIG": os.devnull, "GOMAXPROCS": "1"}
        with (self.folder / "rclone.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, str(self.folder)], env=environment, stdout=log, stderr=log, start_new_session=True
            )
        self._wait()

    def stop(self) -> None:
        """At once, as a machine that loses its power."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def names(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.objects)) for path in self.objects.rglob("*") if path.is_file()
        )

    def _wait(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                urlopen(Request(self.address, method="HEAD"), timeout=2).close()
                return
            except OSError as error:
                if hasattr(error, "code"):  # it answers, and asks for a signature
                    return
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)


@contextmanager
def bucket(folder: Path, origin: str = "") -> Iterator[Bucket]:
    """A server that is gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Bucket(folder, origin)
    made.start()
    try:
        yield made
    finally:
        made.stop()
