"""A measurement has the bytes that a portal writes for its numbers, and none beside them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from mechanisms.verify import measured
from mechanisms.verify.bundle import MEASUREMENT, RELEASE, Bundle
from mechanisms.verify.finding import Finding, State

EARLIER = Path(__file__).parents[2] / "data/histogram_1.0.zip"


def found(folder: Path, change: Callable[[bytes], bytes]) -> Finding:
    """In a bundle whose measurement was changed by somebody who also put its digest right."""
    with zipfile.ZipFile(EARLIER) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    [measurement] = [name for name in files if name.endswith(MEASUREMENT)]
    [release] = [name for name in files if name.endswith(RELEASE)]
    files[measurement] = change(files[measurement])
    facts = json.loads(files[release]) | {"measurement_sha256": sha256(files[measurement]).hexdigest()}
    files[release] = json.dumps(facts).encode()
    path = folder / "changed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return measured.check(Bundle.read(path))


def in_another_order(content: bytes) -> bytes:
    values, held = np.load(io.BytesIO(content)), io.BytesIO()
    np.save(held, values.astype(values.dtype.newbyteorder(">")))
    return held.getvalue()


def with_a_wider_head(content: bytes) -> bytes:
    """A comment would have room there."""
    size = int.from_bytes(content[8:10], "little")
    head = content[10 : 10 + size - 1] + b" " * 64 + b"\n"
    return content[:8] + len(head).to_bytes(2, "little") + head + content[10 + size :]


def test_what_a_portal_wrote_holds(tmp_path: Path) -> None:
    assert found(tmp_path, bytes).state is State.HOLDS


@pytest.mark.parametrize(
    "change",
    [lambda content: content + b"true counts", in_another_order, with_a_wider_head],
    ids=["behind the numbers", "another order of bytes", "a wider head"],
)
def test_other_bytes_for_the_same_numbers_fail(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    finding = found(tmp_path, change)
    assert finding.state is State.FAILED
    assert "bytes that no portal writes" in finding.details
