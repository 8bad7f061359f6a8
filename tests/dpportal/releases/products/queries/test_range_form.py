"""A reader picks a range on the public page of a release of all ranges, and sees its count and margin."""

from __future__ import annotations

import re
from math import ceil

import pytest
from django.http import QueryDict

from dpportal.datasets import services as dataset_services
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.releases.products.queries.range_form import range_form
from mechanisms.domain import Categorical, Integer
from tests.dpportal.markup import folded
from tests.dpportal.releases.products.queries.building import answers, draft_of, finished
from tests.dpportal.releases.products.queries.test_parts import AGE, SEX, plan_of, rich as rich
from tests.dpportal.releases.products.test_many_margins import COLOURS

PICKED = re.compile(
    r'<p class="finding" role="status">\s?(.*?): <strong>(\S+)</strong> ± (\d+) people\s?</p>'
)


@pytest.fixture
def release(rich) -> Release:
    text = 'identity("age") + ranges("age") x identity("colour")'
    made = finished(draft_of(rich, text, ["colour", "age"], "1", "hierarchy-strategy"))
    services.publish(made, rich.owner)
    return made


@pytest.mark.slow
def test_a_picked_range_has_the_count_and_the_margin_of_its_answer(release: Release, client) -> None:
    page = folded(client.get(f"/releases/{release.pk}/?part=1&range-at-0=1&range-from-1=2&range-to-1=5").text)
    picked = PICKED.search(page)
    assert picked and picked[1] == "colour = green, age 20–59", page[page.index("Count a range") :][:2000]
    table = answers(release)
    [line] = table[table["query"] == picked[1]].to_dict("records")
    assert picked[2] == f"{round(line['answer'])}"
    assert picked[3] == f"{ceil(round(line['answer'] - line['interval_lower'], 6))}"
    # The chart stays as it was chosen.
    assert '<input type="hidden" name="part" value="1">' in page and '<option value="1" selected>' in page
    wrong = client.get(f"/releases/{release.pk}/?range-at-0=1&range-from-1=5&range-to-1=2")
    assert "It ends before it begins." in wrong.text and not PICKED.search(folded(wrong.text))
    assert client.get(f"/releases/{release.pk}/?range-at-0=x&range-from-1=99").status_code == 200


@pytest.mark.slow
def test_ranges_by_many_groups_are_picked_too_beside_their_only_chart(rich, client) -> None:
    colours = Categorical("colour", values=COLOURS, closed=True)
    dataset_services.declare_all(rich, [colours, Integer("age", lower=0, upper=99, width=10)])
    text = 'ranges("age") x identity("colour")'
    release = finished(draft_of(rich, text, ["colour", "age"], "1", "identity-strategy"))
    services.publish(release, rich.owner)
    page = folded(client.get(f"/releases/{release.pk}/?range-at-0=9&range-from-1=0&range-to-1=0").text)
    assert 'name="part"' not in page and "Add up cells" in page
    picked = PICKED.search(page)
    assert picked and picked[1] == "colour = hue 6, age 0–9"


def test_every_range_is_found_at_its_place() -> None:
    plan = plan_of('total + ranges("age") x identity("sex")', AGE, SEX)
    labels = list(plan.workload.labels(plan.domain.for_readers))
    for sex, first, last in ((0, 0, 11), (1, 3, 3), (1, 2, 7), (0, 11, 11)):
        form = range_form(plan, QueryDict(f"range-from-0={first}&range-to-0={last}&range-at-1={sex}"))
        assert form is not None and form.is_valid()
        ages = "" if (first, last) == (0, 11) else f"Age in years {5 * first}–{5 * last + 4}, "
        assert labels[form.query] == f"{ages}sex = {('male', 'female')[sex]}"


@pytest.mark.parametrize("text", ['identity("age")', 'width(2, "age")', 'ranges("age") x prefix("sex")'])
def test_there_is_nothing_to_pick_where_not_all_ranges_were_asked(text: str) -> None:
    assert range_form(plan_of(text, AGE, SEX), QueryDict()) is None
