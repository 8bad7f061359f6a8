"""`python -m mechanisms.verify` holds for fresh bundles of releases that nobody chose, with nothing left unchecked.

Their notebooks work all margins out again.

DPPORTAL_DRAWN=1000-1100 tries these seeds instead of the few that the suite has.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpportal.accounts.models import User
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.publications.test_notebook import run
from tests.dpportal.releases.products.drawn_releases import PRODUCTS, Drawing
from tests.dpportal.releases.products.test_verified import downloaded

pytestmark = [pytest.mark.slow, pytest.mark.sampled]
FIRST, _, LAST = os.environ.get("DPPORTAL_DRAWN", "1-8").partition("-")


@pytest.mark.parametrize("seed", range(int(FIRST), int(LAST) + 1))
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("odd", [False, True], ids=["", "odd names"])
def test_a_fresh_bundle_of_a_drawn_release_holds(
    curator: User, administrator: User, tmp_path: Path, product: str, seed: int, odd: bool
) -> None:
    drawing = Drawing(seed, odd=odd)
    release = drawing.release(drawing.dataset(curator, administrator, product), product)
    path = downloaded(release, tmp_path)
    found = verify(Bundle.read(path))
    assert [str(each) for each in found if each.state not in (State.HOLDS, State.STATED)] == []
    run(path, tmp_path / "unpacked")
