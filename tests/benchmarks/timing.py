"""Whether the time of a job, or the size of what it makes, shows one person: neighbouring tables, many runs of each.

Run: python -m tests.benchmarks.timing [--rows 20_000] [--runs 100] [--other longest] [--only "a summary" ...]

Each product is released from two tables in turn, and a period added to a running count of each, in an order that is
drawn for each pair. Where the number of rows is public, as of randomised answers, the other row stands in place of
one. --other says what the second has: `ordinary`, a row more like all others; `longest`, a row more as
long as a line may be; `double`, twice the rows, which is no neighbour and shows that the tests see a difference where
there is one. Times are the processor's, of all threads, in milliseconds. Each quantity has two tests: Kolmogorov and
Smirnov's for any difference between the two distributions, and sign flips of the differences within pairs for one
between the means. A row is marked where either gives less than the level, 1 % divided by the number of tests of all
products (Bonferroni), also where --only chooses some: chance alone marks a row in at most one of a hundred times that
all were run, at once or one after the other. The column "power" has the difference of the means that these runs would
have marked nine times in ten, by the normal approximation to the second test.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

LEVEL = 0.01
QUANTITIES = ("job, ms", "bundle, bytes", "page, ms", "page, bytes")
COLOURS = ("red", "green", "blue")
# Of a line, 2,000,000 bytes are read; the rest of this one is its age.
LONGEST = 1_999_000
OTHERS: dict[str, Callable[[list[str]], list[str]]] = {
    "ordinary": lambda lines: [*lines, "red,40"],
    "longest": lambda lines: [*lines, f"{'x' * LONGEST},40"],
    "double": lambda lines: [*lines, *lines],
}
# Whose number is public, so that a neighbour has another row in place of one.
ANSWERS = "randomised answers"
# Of a running count; so many runs have one.
PERIODS = 24
Measured = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--other", choices=OTHERS, default="ordinary")
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    _set_up()
    tables = _tables(given.rows, given.other)
    swapped = _tables(given.rows, given.other, swapped=True)
    chosen = [name for name in makers() if not given.only or name in given.only]
    tests = len(makers()) * len(QUANTITIES) * 2
    print(
        f"{given.rows:,} rows; the other table: {given.other}; {given.runs} runs each; level {LEVEL / tests:.2g}"
    )
    print(f"{'':<34}{'':<15}{'mean':>12}{'difference':>22}{'power':>9}{'KS':>9}{'means':>9}")
    for name in chosen:
        pair = swapped if name == ANSWERS else tables
        show(name, *in_turn(makers()[name], pair, given.runs), LEVEL / tests)


def _set_up() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)


def _tables(rows: int, other: str, *, swapped: bool = False) -> tuple[Any, Any]:
    """Two uploads with budgets, declared alike: colours, and ages from 0 to 99.

    swapped: the other row stands in place of the last one, and the number of rows is public.
    """
    from dpportal.accounts.models import Role
    from tests.dpportal import building

    whose = "of answers" if swapped else "of counts"
    owner = building.person(f"curator {whose}", Role.CURATOR)
    granter = building.person(f"administrator {whose}", Role.ADMINISTRATOR)
    lines = [f"{COLOURS[i % 3]},{i % 100}" for i in range(rows)]
    uploads = [
        _declared(owner, each, swapped) for each in (lines, OTHERS[other](lines[:-1] if swapped else lines))
    ]
    one, another = (building.granted(each, granter, "100000", knowing=True) for each in uploads)
    return one, another


def _declared(owner: Any, lines: list[str], swapped: bool) -> Any:
    from django.test import Client

    from dpportal.datasets import services
    from mechanisms.domain import Categorical, Integer
    from tests.dpportal import building

    desk = Client()
    desk.force_login(owner)
    dataset = building.uploaded(desk, "\n".join(["colour,age", *lines, ""]).encode())
    services.declare_all(
        dataset, [Categorical("colour", values=COLOURS), Integer("age", lower=0, upper=99, width=10)]
    )
    if swapped:
        services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    return dataset


def makers() -> dict[str, Callable[[Any], Any]]:
    """For each product a function that makes a release of a dataset that nobody has run yet."""
    both = ["colour", "age"]
    return {
        "a histogram and its rows": partial(_draft, "histogram", both, "laplace-histogram"),
        "a method chosen privately": partial(_draft, "histogram", ["age"], "chosen-histogram"),
        "totals and means": partial(
            _draft, "means", both, "bernstein-sums", measured=["age"], deviation=True, steps={}
        ),
        "a summary": partial(_draft, "summary", both, "column-tables", group="colour", twice=[]),
        "a choice": partial(
            _draft, "selection", ["colour"], "permute-and-flip", question="most-common-value", picks=2
        ),
        "answers to queries": partial(
            _draft, "queries", ["age"], "hierarchy-strategy", workload='ranges("age")'
        ),
        ANSWERS: partial(_draft, "response", ["colour"], "randomised-response"),
        "rows of many columns": partial(_draft, "microdata", both, "tree-of-pairs", wishes={}, rows=None),
        "a period of a running count": _next_period,
    }


@dataclass
class NextPeriod:
    """A period of a public running count that is still to be added, with as many red rows as the table has."""

    stream: Any
    index: int
    count: int


def _next_period(dataset: Any) -> NextPeriod:
    """Of a running count of 24 periods, and of a new one when these are over."""
    from dpportal.streams import services
    from dpportal.streams.models import Stream
    from tests.dpportal.streams import building

    stream = Stream.objects.filter(dataset=dataset).order_by("-opened_at").first()
    if stream is None or stream.periods.count() == PERIODS:
        stream = building.open_stream(dataset, horizon=PERIODS)
        services.publish(stream, dataset.owner)
    return NextPeriod(stream, stream.periods.count() + 1, -(-dataset.rows // len(COLOURS)))


def _draft(product: str, columns: list[str], mechanism: str, dataset: Any, **parameters: Any) -> Any:
    from decimal import Decimal

    from dpportal.releases import services
    from dpportal.releases.models import Release
    from dpportal.releases.products.queries import strategies
    from tests.dpportal import building

    release = Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        title="Test",
        product=product,
        columns=columns,
        mechanism=mechanism,
        parameters=parameters,
        amount=Decimal("0.1"),
        people=1000,
    )
    if product == "queries":
        for search in services.ask_strategies(release):
            strategies.STRATEGIES.run(search.key)
    building.confirm(release)
    return release


def in_turn(make: Callable[[Any], Any], tables: tuple[Any, Any], runs: int) -> tuple[Measured, Measured]:
    """The quantities of so many releases from each table, the k-th of the one beside the k-th of the other.

    The first pair is not counted: it loads what all others have.
    """
    measured: tuple[Measured, Measured] = (
        {name: [] for name in QUANTITIES},
        {name: [] for name in QUANTITIES},
    )
    for run in range(runs + 1):
        for which in random.sample((0, 1), 2):
            for name, value in quantities(make(tables[which])).items():
                if run:
                    measured[which][name].append(value)
    return measured


def quantities(release: Any) -> dict[str, float]:
    """Run the release's job, publish it and open its page; or add the period, and open the page of its series."""
    if isinstance(release, NextPeriod):
        return _quantities_of_period(release)
    from django.core.files.storage import default_storage
    from django.test import Client

    from dpportal.releases import services
    from dpportal.releases.execution import RELEASES

    job = _milliseconds(lambda: RELEASES.run(release.pk))
    release.refresh_from_db()
    assert release.is_ready, release.job.failure
    services.publish(release, release.created_by)
    bundle = release.artifacts.get(name__endswith=".zip")
    visitor, pages = Client(), []
    page = _milliseconds(lambda: pages.append(visitor.get(release.get_absolute_url())))
    sizes = default_storage.size(bundle.stored), len(pages[0].content)
    return dict(zip(QUANTITIES, (job, sizes[0], page, sizes[1]), strict=True))


def _quantities_of_period(period: NextPeriod) -> dict[str, float]:
    """The files of its series are written at once, which the portal puts off while periods come fast."""
    from django.test import Client

    from dpportal.platform import storage
    from dpportal.streams import bundle, execution
    from dpportal.streams.models import Period, Stream
    from dpportal.streams.series import published

    update = execution.Update(period.index, (period.count,), Period.Source.TYPED)
    written: list[Any] = []
    with storage.scratch_folder() as folder:

        def add() -> None:
            execution.publish(period.stream.pk, [update])
            stream = Stream.objects.get(pk=period.stream.pk)
            written.extend(bundle.write(stream, published(stream), folder))

        job = _milliseconds(add)
        [size] = [file.path.stat().st_size for file in written if file.path.suffix == ".zip"]
    visitor, pages = Client(), []
    page = _milliseconds(lambda: pages.append(visitor.get(period.stream.get_absolute_url())))
    return dict(zip(QUANTITIES, (job, size, page, len(pages[0].content)), strict=True))


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def show(name: str, one: Measured, other: Measured, level: float) -> None:
    """Print a row for each quantity: the difference of the means with its 99 % interval, and what the tests give."""
    for quantity in QUANTITIES:
        first, second = np.array(one[quantity]), np.array(other[quantity])
        apart = second - first
        error = apart.std(ddof=1) / len(apart) ** 0.5
        margin, power = stats.t.ppf(0.995, len(apart) - 1) * error, _normal_power(level) * error
        shape, means = stats.ks_2samp(first, second).pvalue, sign_flips(apart)
        mark = "  differ" if min(shape, means) < level else ""
        difference = f"{apart.mean():+.2f} ± {margin:.2f}"
        print(
            f"{name:<34}{quantity:<15}{first.mean():>12.2f}{difference:>22}{power:>9.2f}{shape:>9.4f}{means:>9.4f}{mark}",
            flush=True,
        )
        name = ""


def _normal_power(level: float) -> float:
    """How many standard errors apart two means are that a test of this level tells apart nine times in ten."""
    return float(stats.norm.isf(level / 2) + stats.norm.isf(0.1))


def sign_flips(apart: np.ndarray, flips: int = 100_000) -> float:
    """The share of random signs that move the mean of the differences at least as far from zero as it is."""
    signs = np.random.default_rng().integers(0, 2, size=(flips, len(apart)), dtype=np.int8) * 2 - 1
    return float((1 + np.count_nonzero(abs(signs @ apart) >= abs(apart.sum()))) / (flips + 1))


if __name__ == "__main__":
    main()
