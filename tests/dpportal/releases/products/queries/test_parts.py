"""Each part of a release of answers has the chart of its shape, and a reader chooses among them."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from django.http import QueryDict

from dpportal.accounts.models import User
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.releases.products.queries.page import shown_answers
from dpportal.releases.products.queries.parts import PartForm, called, part_figure, parts_of
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.matrix.mechanism import QueryPlan, QueryResult
from mechanisms.matrix.workload.text import read_workload
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from mechanisms.verify.quantities import Quantities
from mechanisms.verify.sentences import placed
from tests.dpportal import building
from tests.dpportal.markup import folded
from tests.dpportal.releases.products.building import files, page_of
from tests.dpportal.releases.products.queries.building import draft_of, finished
from tests.dpportal.releases.products.test_verified import downloaded

AGE = Integer("age", lower=0, upper=59, width=5, title="Age in years")
SEX = Boolean("sex", words=("male", "female"))
WORK = Categorical("work_class", values=("state", "private", "own", "none"), closed=True)
TOWN = Categorical("town", values=tuple(f"t{place}" for place in range(9)), closed=True)


def plan_of(text: str, *columns) -> QueryPlan:
    domain = Domain(columns or (AGE, SEX, WORK, TOWN))
    loss = Loss(Definition.PURE, Fraction(1))
    return registry.query_mechanism("identity-strategy").plan(domain, read_workload(text, domain), loss)


def drawn(plan: QueryPlan, place: int = 0):
    answers = np.arange(plan.workload.queries) + 100.25
    part = parts_of(plan)[place]
    return part_figure(plan, part, answers, np.full(answers.size, 7.5))


def kinds(figure) -> list[str]:
    traces = figure.json["data"]
    return [f"{t['type']}{' lying' if t.get('orientation') == 'h' else ''}" for t in traces]


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ('identity("work_class")', ["bar"]),
        ('identity("age")', ["bar"]),
        ('marginal("age", "sex")', ["bar lying", "bar lying"]),
        ('marginal("sex", "work_class")', ["bar", "bar"]),
        ('marginal("age", "town")', ["heatmap"]),
        ('prefix("age")', ["scatter"] * 3),
        ('prefix("age") x identity("sex")', ["scatter"] * 6),
        ('width(3, "age")', ["scatter"] * 3),
        ('ranges("age")', ["bar"]),
        ('ranges("age") x identity("sex")', ["bar lying", "bar lying"]),
        ("total", ["scatter"]),
    ],
)
def test_the_chart_is_by_the_shape(text: str, shapes: list[str]) -> None:
    assert kinds(drawn(plan_of(text))) == shapes


def test_a_table_is_drawn_with_the_margin_that_each_number_has() -> None:
    figure = drawn(plan_of('identity("work_class")'))
    [bars] = figure.json["data"]
    assert list(bars["y"]) == [100, 101, 102, 103] and bars["error_y"]["value"] == 8
    assert figure.caption.startswith("Margin: ± 8 people.") and figure.title == "People by work class"


def test_running_totals_are_a_line_within_its_margins() -> None:
    low, high, line = drawn(plan_of('prefix("age")')).json["data"]
    assert list(line["y"])[:2] == [100, 101] and (low["y"][0], high["y"][0]) == (92, 108)
    assert list(line["x"])[:2] == ["0–4", "5–9"]


def test_margins_of_one_line_may_differ_and_reach_below_zero() -> None:
    plan = plan_of('prefix("age")')
    margins = np.arange(12.0) + 1
    low, high, _line = part_figure(plan, parts_of(plan)[0], np.zeros(12), margins).json["data"]
    assert (low["y"][3], high["y"][3]) == (-4, 4)


@pytest.mark.parametrize("group", ["", ' x identity("sex")'])
def test_of_all_ranges_the_chart_has_each_cell_and_then_the_totals_up_to_each(group: str) -> None:
    ranges, cells, totals = (plan_of(f'{kind}("age"){group}') for kind in ("ranges", "identity", "prefix"))
    table = np.random.default_rng(1).integers(0, 99, ranges.domain.shape)
    answers = ranges.workload.answers(table)
    for place, alike in enumerate((cells, totals)):
        one, other = (
            part_figure(plan, parts_of(plan)[at], own, np.ones(own.size)).json["data"]
            for plan, at, own in ((ranges, place, answers), (alike, 0, alike.workload.answers(table)))
        )
        assert [[*each["y"]] for each in one] == [[*each["y"]] for each in other]
        assert [[*each["x"]] for each in one] == [[*each["x"]] for each in other]


def test_ranges_of_two_columns_or_by_many_groups_have_no_lines() -> None:
    for text in ('ranges("age") x ranges("sex")', 'ranges("age") x identity("town")'):
        plan = plan_of(text, AGE, Integer("sex", lower=0, upper=9), TOWN)
        assert len(parts_of(plan)) == 1 and kinds(drawn(plan)) == ["heatmap"]


def test_single_cells_of_a_column_longer_than_a_chart_are_dots_of_some() -> None:
    plan = plan_of('identity("n")', Integer("n", lower=0, upper=2999))
    assert "2,000 of 3,000 answers are drawn" in drawn(plan).caption


def test_parts_are_called_by_the_names_that_readers_know() -> None:
    plan = plan_of('marginals(<=2, "age", "work_class") + prefix("age") x identity("sex") + total')
    assert [called(plan, part) for part in parts_of(plan)] == [
        "Each cell of Age in years",
        "Each cell of work class",
        "The table Age in years × work class",
        "Running totals of Age in years, combined with each cell of sex",
    ]


@pytest.mark.parametrize(("asked", "chosen"), [("", 0), ("part=2", 2), ("part=9", 0), ("part=x", 0)])
def test_an_address_chooses_a_part_or_has_the_first(asked: str, chosen: int) -> None:
    form = PartForm(plan_of("marginals(<=2)", AGE, SEX), QueryDict(asked))
    assert form.chosen == chosen and f'value="{chosen}" selected' in str(form["part"])


def test_numbers_of_people_are_whole_and_weighted_sums_have_the_digits_of_their_margin() -> None:
    plan = plan_of('prefix("age")')
    result = QueryResult(np.full(12, 4266.6), np.ones(12), np.full(12, 37.01))
    assert shown_answers(plan, result)[0] == [1, "Age in years 0–4", 4267, 38]


@pytest.fixture
def rich(curator: User, administrator: User) -> Dataset:
    return building.granted(building.stored_dataset(curator), administrator, "10000")


@pytest.fixture
def release(rich: Dataset) -> Release:
    text = 'marginals(<=2) + prefix("age") x identity("colour") + width(2, "age")'
    return finished(draft_of(rich, text, ["colour", "age"], "1", "hierarchy-strategy"))


@pytest.mark.slow
def test_a_reader_chooses_a_part_of_a_public_page_without_scripts(release: Release, client) -> None:
    services.publish(release, release.dataset.owner)
    first, other = page_of(client, release), client.get(f"/releases/{release.pk}/?part=4").text
    assert "People by colour" in first and '<select name="part"' in first
    assert "Every range of 2 neighbouring cells of age" in other
    assert f"/releases/{release.pk}/chart/main.svg?part=4" in other
    picture = client.get(f"/releases/{release.pk}/chart/main.svg?part=4")
    assert "Every range of 2 neighbouring cells" in b"".join(picture).decode()


@pytest.mark.slow
def test_the_public_page_says_margins_and_no_standard_errors(release: Release, client) -> None:
    services.publish(release, release.dataset.owner)
    page = page_of(client, release)
    shown = page[page.index("<main") : page.index('id="downloads"')]
    assert "tandard error" not in re.sub(r"\s+", " ", shown)
    row = re.search(r'<th scope="row">colour = red</th>(.*?)</tr>', page)
    assert row and re.fullmatch(r'<td class="number">\d+</td><td class="number margin">± \d+</td>', row[1]), (
        row
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "marginals(<=2)",
        'prefix("age") x identity("colour") + prefix("age")',
        'width(3, "age") + ranges("age") + total',
        'ranges("age") x identity("colour")',
    ],
)
def test_the_charts_of_a_bundle_are_verified_with_their_numbers(rich, tmp_path, text: str) -> None:
    named = [line.declared() for line in rich.current_domain().attributes.all()]
    titled = [type(a)(**{**vars(a), "title": f"The {a.name} of 2021"}) for a in named]
    dataset_services.declare_all(rich, titled)
    release = finished(draft_of(rich, text, ["colour", "age"], "1", "hierarchy-strategy"))
    found = verify(Bundle.read(downloaded(release, tmp_path)))
    assert [str(each) for each in found if each.state not in (State.HOLDS, State.STATED)] == []
    assert b"The colour of 2021" in files(release)["report.html"]


@pytest.mark.slow
def test_the_number_of_all_in_the_first_sentence_is_verified(rich, tmp_path) -> None:
    """Any other answer in its place is found, even a larger one: noise may lift one above all together."""
    release = finished(draft_of(rich, 'ranges("age")', ["age"], "0.1", "identity-strategy"))
    bundle = Bundle.read(downloaded(release, tmp_path))
    quantities = Quantities(bundle)
    answers = quantities.column("answers answer")
    everybody, others = round(answers[9]), {round(answer) for answer in answers} - {round(answers[9])}
    for number, is_own in ((everybody, True), (max(others, key=abs), False)):
        known = placed(f"All together: {abs(number):,} ± 7", quantities)
        assert known[len("All together: ")] is is_own
    assert f"All together: <strong>{everybody:,}</strong>" in folded(bundle.content("report.html").decode())
