"""`python -m mechanisms.verify` holds for fresh bundles of running counts that nobody chose, as of releases.

DPPORTAL_DRAWN=1000-1100 tries these seeds instead of the few that the suite has.
"""

from __future__ import annotations

import datetime as dt
import os
import random
from pathlib import Path

import pytest

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.streams import bundle, execution
from dpportal.streams.execution import Update
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import published
from dpportal.streams.services import StreamError
from mechanisms import registry
from mechanisms.domain import Categorical
from mechanisms.refusal import RefusalError
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.publications.test_notebook import run
from tests.dpportal.releases.products.drawn_releases import MOST_DRAFTS, ODD, Drawing
from tests.dpportal.streams import building

pytestmark = [pytest.mark.slow, pytest.mark.sampled]
# Beside the cells that the portal adds no value may be called so.
OWN_CELLS = {"other", "missing"}
FIRST, _, LAST = os.environ.get("DPPORTAL_DRAWN", "1-8").partition("-")


def _opened(draw: random.Random, dataset: Dataset, column: Categorical) -> Stream:
    """Of one value or of all, by any method, step and horizon; drawn anew while a draft is refused."""
    refusals = set()
    for _ in range(MOST_DRAFTS):
        split = draw.random() < 0.5
        step = draw.choice(list(Stream.Step))
        # Mondays that begin a month.
        first = None if step == Stream.Step.NEXT else draw.choice((dt.date(2020, 6, 1), dt.date(2021, 3, 1)))
        try:
            return building.open_stream(
                dataset,
                column=column.name,
                split=split,
                cells=[] if split else [draw.randrange(column.size)],
                step=step,
                first_day=first,
                horizon=draw.choice((1, 2, 7, 30, 52, 365)),
                mechanism=draw.choice(registry.STREAMS).name,
                amount=draw.choice(("0.05", "0.3", "1", "2.5", "9")),
            )
        except (RefusalError, StreamDraftError, StreamError) as refusal:
            refusals.add(str(refusal))
    raise AssertionError(f"all drafts were refused: {refusals}")


def _column(draw: random.Random, taken: str, *, odd: bool) -> Categorical:
    """odd: whether it and its values are called as few are."""
    count = draw.randint(2, 3)
    if not odd:
        return Categorical("region-7", values=("Nord", "Süd", "65+")[:count])
    name, *values = draw.sample([each for each in ODD if each not in {taken, *OWN_CELLS}], 1 + count)
    return Categorical(name, values=tuple(values))


@pytest.mark.parametrize("seed", range(int(FIRST), int(LAST) + 1))
@pytest.mark.parametrize("odd", [False, True], ids=["", "odd names"])
def test_a_fresh_bundle_of_a_drawn_running_count_holds(
    curator: User, administrator: User, tmp_path: Path, seed: int, odd: bool
) -> None:
    drawing, draw = Drawing(seed, odd=odd), random.Random(seed)
    column = _column(draw, drawing.attributes[0].name, odd=odd)
    drawing.attributes = [*drawing.attributes[:1], column]
    stream = _opened(draw, drawing.dataset(curator, administrator, "stream"), column)
    counts = [0] * len(stream.labels)
    for index in range(1, draw.randint(1, min(40, stream.horizon)) + 1):
        counts = [count + draw.randint(0, 30) for count in counts]
        execution.publish(stream.pk, [Update(index, tuple(counts), Period.Source.TYPED)])
    stream.refresh_from_db()
    series = published(stream)
    assert series is not None
    path = bundle.write(stream, series, tmp_path)[0].path
    found = verify(Bundle.read(path))
    assert [str(each) for each in found if each.state not in (State.HOLDS, State.STATED)] == []
    run(path, tmp_path / "unpacked")
