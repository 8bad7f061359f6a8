"""`python -m mechanisms.verify` holds for a fresh bundle of running counts, and fails for every altered number."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpportal.platform.signing import SigningKeys
from dpportal.streams import bundle, execution
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import published
from mechanisms.verify import extremes, planned
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from mechanisms.verify.signature import signed_text
from tests.dpportal.publications.forging import as_written, zipped
from tests.dpportal.publications.test_croissant import loaded
from tests.dpportal.publications.test_notebook import run
from tests.dpportal.streams import building

PERIODS = 5


@pytest.fixture(params=["fda", "binary-tree"])
def downloaded(request, dataset, tmp_path) -> Path:
    """A bundle of three running counts."""
    stream = building.open_stream(dataset, split=True, cells=[], mechanism=request.param)
    for index in range(1, PERIODS + 1):
        counts = tuple(3 * index + place for place in range(len(stream.labels)))
        execution.publish(stream.pk, [Update(index, counts, Period.Source.TYPED)])
    stream = Stream.objects.get(pk=stream.pk)
    series = published(stream)
    assert series is not None and series.width > 1
    return bundle.write(stream, series, tmp_path)[0].path


def failed(path: Path) -> list[str]:
    return [finding.what for finding in verify(Bundle.read(path)) if finding.state is State.FAILED]


def forged(path: Path, table: pd.DataFrame | None, change: Callable[[dict[str, Any]], object]) -> Path:
    """With another table or other facts, whose digests and signature somebody with a key of their own made anew."""
    read = Bundle.read(path)
    facts, changed = json.loads(read.content("release.json")), {}
    change(facts)
    if table is not None:
        changed["series.csv"] = table.to_csv(index=False, lineterminator="\n").encode()
        facts["files"]["series.csv"]["sha256"] = hashlib.sha256(changed["series.csv"]).hexdigest()
    changed["release.json"] = as_written(facts)
    digest = hashlib.sha256(changed["release.json"]).hexdigest()
    changed["signature.json"] = as_written(SigningKeys("a forger's").sign(signed_text(digest)))
    contents = {name: changed.get(name, read.content(name)) for name in read.entries}
    return zipped(path.with_name("forged.zip"), contents)


@pytest.mark.slow
def test_a_fresh_bundle_holds_and_an_altered_number_is_caught(downloaded):
    found = list(verify(Bundle.read(downloaded)))
    assert {finding.state for finding in found} == {State.HOLDS, State.STATED}
    assert all(loaded(downloaded, downloaded.parent / "unpacked").values())
    run(downloaded, downloaded.parent / "unpacked")
    table = pd.read_csv(io.BytesIO(Bundle.read(downloaded).content("series.csv")))
    # The names of periods are the digests' and the signature's to bind.
    numbers = table.select_dtypes("number").columns.drop("begins")
    assert len(numbers) >= 11
    for name in numbers:
        other = table.copy()
        other[name] = other[name] + (other.index == 4)
        assert "series.csv" in failed(forged(downloaded, other, lambda _: None)), name
    assert "periods" in failed(forged(downloaded, table[:-3], lambda _: None))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.update(periods=PERIODS - 1),
        lambda facts: facts["plan"]["request"].update(horizon=PERIODS - 1),
        lambda facts: facts["plan"]["loss"].update(amount="1/1000"),
        lambda facts: facts["plan"]["sensitivity"].update(l1=1),
        lambda facts: facts["plan"].update(mean_squared_error=1.0),
    ],
    ids=["periods", "horizon", "loss", "sensitivity", "error"],
)
def test_altered_facts_are_caught(downloaded, change):
    assert failed(forged(downloaded, None, change))


@pytest.mark.slow
def test_a_running_count_that_no_table_could_have_is_told(downloaded):
    read = Bundle.read(downloaded)
    assert [finding.state for finding in extremes.check(read, planned.read(read))] == [State.HOLDS]
    table = pd.read_csv(io.BytesIO(read.content("series.csv")))
    table.loc[len(table) - 1, "released_count"] = -(10**9)
    path = Bundle.read(forged(downloaded, table, lambda _: None))
    assert [finding.state for finding in extremes.check(path, planned.read(path))] == [State.FAILED]
