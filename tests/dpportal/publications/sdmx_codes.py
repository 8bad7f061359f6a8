"""The codes of missing values in the SDMX-CSV of a bundle, as the verifier sees them."""

from __future__ import annotations

from pathlib import Path

from mechanisms.verify import observations
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import State
from tests.dpportal.publications.forging import zipped

# The table of a product whose observations there are, where it is not called after it.
TABLES = {"means": "totals", "response": "estimates"}


def require_codes(path: Path, product: str) -> None:
    """Missing values have their code; without it, as earlier versions wrote it, it holds, with another it fails."""
    name = f"{TABLES.get(product, product)}.sdmx.csv"
    state = observations.check(Bundle.read(path), name, {}).state
    assert b'"_U"' in Bundle.read(path).content(name) and state is State.HOLDS
    for code, expected in ((b'""', State.HOLDS), (b'"_Z"', State.FAILED)):
        assert observations.check(_with_code(path, name, code), name, {}).state is expected


def _with_code(path: Path, name: str, code: bytes) -> Bundle:
    bundle = Bundle.read(path)
    contents = {own: bundle.content(each) for each, own in bundle.entries.items()}
    contents[bundle.entries[name]] = bundle.content(name).replace(b'"_U"', code)
    return Bundle.read(zipped(path.with_name("coded.zip"), contents))
