"""Of a hundred margins and more, pages and files say how many of them are expected to miss."""

from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string

from dpportal.budgets.templatetags.numbers import may_miss
from dpportal.datasets import services as dataset_services
from dpportal.releases import execution, services
from mechanisms.domain import Categorical, Integer
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from mechanisms.verify.quantities import Quantities
from mechanisms.verify.sentences import placed
from tests.dpportal import building
from tests.dpportal.markup import folded
from tests.dpportal.releases.products.queries.building import draft_of, finished
from tests.dpportal.releases.products.test_verified import downloaded

SENTENCE = "Up to about {} of these {} margins miss the true number; nobody can tell which."
COLOURS = ("red", "green", "blue", *map("hue {}".format, range(7)))


@pytest.mark.parametrize(
    ("margins", "missing"), [(0, None), (99, None), (100, 5), (222, 11), (230, 12), (2000, 100)]
)
def test_one_margin_in_twenty_may_miss(margins: int, missing: int | None) -> None:
    assert may_miss(margins) == missing
    text = folded(render_to_string("publications/_may_miss.html", {"margins": margins})).strip()
    assert text == (SENTENCE.format(missing, f"{margins:,}") if missing else "")


def read_everywhere(release, client, path) -> Bundle:
    """The sentence stands on the page and in each file for people, and the verifier knows its numbers."""
    services.publish(release, release.dataset.owner)
    bundle = Bundle.read(downloaded(release, path))
    texts = [client.get(release.get_absolute_url()).text]
    texts += [bundle.content(name).decode() for name in ("report.html", "README.md")]
    numbers = {
        tuple(found) for text in texts for found in re.findall(r"about (\d+) of these (\d+) m", folded(text))
    }
    assert len(numbers) == 1 and all(folded(text).count(" margins miss ") == 1 for text in texts)
    assert [str(each) for each in verify(bundle) if each.state not in (State.HOLDS, State.STATED)] == []
    [(missing, margins)] = numbers
    for said, is_true in ((missing, True), (str(int(missing) + 1), False)):
        sentence = SENTENCE.format(said, margins)
        known = placed(sentence, Quantities(bundle))
        assert known[sentence.index(said)] is is_true and known[sentence.index(f" {margins}") + 1]
    return bundle


@pytest.mark.slow
def test_a_table_of_a_hundred_counts_says_it(curator, administrator, client, tmp_path) -> None:
    dataset = building.granted(building.stored_dataset(curator), administrator)
    ages = Integer("age", lower=0, upper=99, width=10)
    dataset_services.declare_all(dataset, [Categorical("colour", values=COLOURS, closed=True), ages])
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    read_everywhere(release, client, tmp_path)


@pytest.mark.slow
def test_answers_to_many_queries_say_it(curator, administrator, client, tmp_path) -> None:
    dataset = building.granted(building.stored_dataset(curator), administrator)
    release = finished(
        draft_of(dataset, 'ranges("age") x identity("colour")', ["colour", "age"], "1", "identity-strategy")
    )
    read_everywhere(release, client, tmp_path)
