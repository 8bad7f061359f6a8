"""Up to which day a running count counts: the last one of its newest period, and no other."""

from __future__ import annotations

import datetime as dt
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from mechanisms.verify import sentences
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.derived import Derived
from mechanisms.verify.quantities import Quantities
from mechanisms.verify.series import last_day

LOSS = {"definition": "pure", "amount": "1/2", "neighbours": "add-remove", "max_rows": 1}


@pytest.mark.parametrize(
    ("step", "begins", "day"),
    [
        ("day", "2026-01-26", dt.date(2026, 1, 26)),
        ("week", "2026-01-26", dt.date(2026, 2, 1)),
        ("month", "2026-02", dt.date(2026, 2, 28)),
        ("next", "4", None),
        ("week", "9999-12-31", None),
        ("week", "no day", None),
    ],
)
def test_the_last_day_of_a_period(step: str, begins: str, day: dt.date | None) -> None:
    assert last_day(pd.DataFrame({"begins": ["2026-01", begins]}), {"step": step}) == day


@pytest.mark.parametrize(
    ("sentence", "is_so"),
    [
        ("Up to 1 February 2026: 4,293 ± 2,216 people in all.", True),
        ("Up to 2 February 2026: 4,293 ± 2,216 people in all.", False),
        ("Up to 1 February 2027: 4,293 ± 2,216 people in all.", False),
        ("Up to 1 February 2026, the total of income is", True),
        ("Up to 8 February 2026, the total of income is", False),
    ],
)
def test_another_day_or_year_is_named(tmp_path: Path, sentence: str, is_so: bool) -> None:
    path = tmp_path / "stream.zip"
    release = {
        "plan": {"loss": LOSS},
        "files": {},
        "product": "stream",
        "calendar": {"step": "week", "first_day": "2026-01-26"},
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("release.json", json.dumps(release))
        archive.writestr("series.csv", "period,begins,released_count\n1,2026-01-26,4293\n")
    quantities = Quantities(Bundle.read(path))
    quantities.derived = Derived(newest=[4293.0, 12.0, 2216.0, 4.0])
    found = sentences.placed(sentence, quantities)
    assert len(found) >= 2 and all(found.values()) == is_so
