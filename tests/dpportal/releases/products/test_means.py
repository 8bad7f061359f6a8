"""Totals and means, from a draft through the job to bundle and pages."""

from __future__ import annotations

import datetime as dt
import io
import re
from decimal import Decimal
from fractions import Fraction

import frictionless
import numpy as np
import pandas as pd
import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from dpportal.budgets.models import LedgerEntry
from dpportal.charts.thumbnail import thumbnail
from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts, results, services
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError, planner_of, presenter_of
from dpportal.releases.products.means import comparison
from dpportal.releases.products.means.page import page
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.tables.pushdown.sum_query import PART
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.moments.column import MAX_STEPS, MeasuredColumn
from mechanisms.moments.estimates import Sums
from mechanisms.moments.mechanism import MOST_ROWS, BernsteinSums, exact_sums
from tests.dpportal import building
from tests.dpportal.publications.test_notebook import run
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.test_verified import downloaded, failed

# Ages of each colour: 0 to 99, each once.
MEAN, DEVIATION = 49.5, float(np.arange(100).std())


def means(dataset: Dataset, amount: str = "50", groups: tuple[str, ...] = ("colour",), **chosen) -> Release:
    parameters = {"measured": ["age"], "deviation": True, "steps": {}, **chosen}
    return finished(
        dataset, "means", [*groups, *parameters["measured"]], amount, "bernstein-sums", **parameters
    )


def table_of(release: Release, name: str = "totals.csv") -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files(release)[name]))


def drafted(dataset: Dataset, **changed) -> Release:
    chosen = {"measured": ["age"], "deviation": True, "steps": {}}
    fields = {
        "columns": ["colour", "age"],
        "parameters": chosen,
        "people": 300,
        "amount": Decimal(1),
        "product": "means",
        "mechanism": "bernstein-sums",
        **changed,
    }
    return Release.objects.create(dataset=dataset, created_by=dataset.owner, **fields)


@pytest.mark.slow
class TestReleased:
    def test_means_come_close_when_there_is_hardly_any_noise(self, rich) -> None:
        """ε = 50: a mean of a hundred people is off by more than 1 with a chance below 1e-9."""
        table = table_of(means(rich)).set_index("colour")
        assert table.loc[["red", "green", "blue"], "mean"].tolist() == pytest.approx([MEAN] * 3, abs=1)
        assert table.loc["red", "deviation"] == pytest.approx(DEVIATION, abs=1)
        assert table.loc["red", "total"] == pytest.approx(4950, abs=100)
        assert np.isnan(table.loc["Other", "mean"]) or table.loc["Other", "number"] < 1

    def test_in_all_is_the_sum_of_the_groups(self, rich) -> None:
        release = means(rich)
        groups, together = table_of(release), table_of(release, "in_all.csv").iloc[0]
        # As measured: in the files a group of nobody has no number below 0.
        plan, sums = results.reconstruct(release).plan, np.load(io.BytesIO(files(release)["measurement.npy"]))
        own = Sums(plan.columns[0], plan.degree)
        assert round((sums[0] @ own.number).sum()) == together["number"]
        assert groups["number"].sum() >= together["number"] - 1e-6 and groups["total"].min() >= 0

    def test_one_group_has_one_line_and_no_deviation_unless_it_is_chosen(self, rich) -> None:
        release = means(rich, groups=(), deviation=False)
        table = table_of(release)
        assert len(table) == 1 and "deviation" not in table and "in_all.csv" not in files(release)
        assert table["mean"][0] == pytest.approx(MEAN, abs=1)

    def test_values_beyond_a_bound_count_as_the_bound_and_are_told(self, rich) -> None:
        colour = Categorical("colour", values=("red", "green", "blue"))
        dataset_services.declare_all(rich, [colour, Integer("age", lower=0, upper=49, width=10)])
        row = table_of(means(rich, groups=())).iloc[0]
        assert row["mean"] == pytest.approx(np.minimum(np.arange(100), 49).mean(), abs=1)
        assert row["share_at_high"] == pytest.approx(0.51, abs=0.05)

    def test_a_coarser_step_rounds_down(self, rich, client) -> None:
        release = means(rich, groups=(), steps={"age": "10"})
        row, given = table_of(release).iloc[0], files(release)
        assert row["mean"] == pytest.approx(45, abs=1)
        # Nobody but the youngest three is 0 years old, and nobody 99 beside the eldest three.
        compared = records.comparison(release.dataset_id, release.pk)
        assert compared is not None and compared["in_steps"] == ["age"]
        client.force_login(rich.owner)
        text = client.get(reverse("releases:compare", args=[release.pk])).text
        assert "of age are of values in whole steps, as they were measured" in text
        assert row[["share_at_low", "share_at_high"]].tolist() == pytest.approx([0.1, 0.1], abs=0.05)
        assert "age below 10, and 90 or above" in given["README.md"].decode()
        assert "lower end (age below 10)" in given["datapackage.json"].decode()
        assert "Below 10" in given["report.html"].decode()

    def test_a_group_column_may_be_called_like_a_number(self, rich) -> None:
        """The files' own columns give way."""
        dataset_services.declare_all(
            rich,
            [
                Categorical("mean", values=("red", "green", "blue"), source="colour"),
                Integer("age", lower=0, upper=99, width=10),
            ],
        )
        assert list(table_of(means(rich, groups=("mean",))).columns)[:2] == ["mean", "measured"]

    def test_the_comparison_has_the_exact_truth(self, rich, client) -> None:
        release = means(rich, "1")
        compared = records.comparison(release.dataset_id, release.pk)
        assert compared is not None
        columns = compared["header"]
        red = dict(zip(columns, compared["table"][0], strict=True))
        assert (red["number_true"], red["total_true"], red["mean_true"]) == pytest.approx((100, 4950, MEAN))
        assert red["deviation_true"] == pytest.approx(DEVIATION)
        assert "range between the limits" in presenter_of(release).verdict(compared).text
        client.force_login(rich.owner)
        text = client.get(reverse("releases:compare", args=[release.pk])).text
        assert "true: 49.5" in text and "300" in text

    def test_the_public_page_shows_means_and_no_true_number(self, rich, client) -> None:
        release = means(rich)
        services.publish(release, rich.owner)
        text = page_of(client, release)
        assert "Mean of age by group" in text and "not determined" in text
        assert "groups can add up to more than “All”" in text
        assert "the true mean may be" not in text
        assert thumbnail(results.stored_page(release)["figure"]["json"])[0]["kind"] == "bar"
        assert "true:" not in text and "True mean" not in text

    def test_files_fit_their_description_and_come_out_again(self, rich, tmp_path) -> None:
        release = means(rich)
        for name, content in files(release).items():
            (tmp_path / name).write_bytes(content)
        assert frictionless.validate(str(tmp_path / "datapackage.json")).valid
        before = {artifact.name: artifact.sha256 for artifact in release.artifacts.all()}
        again = building.written_again(release)
        assert {artifact.name: artifact.sha256 for artifact in again} == before

    def test_a_reader_adds_up_groups(self, rich, client) -> None:
        """Red and green: their total and number are sums of the table's, with the interval of both noises."""
        release = means(rich)
        services.publish(release, rich.owner)
        table = table_of(release).set_index("colour")
        query = {"pick-asked": "1", "pick-in-0": ["0", "1"]}
        shown = client.get(reverse("releases:explore", args=[release.pk]), query)
        number, total, mean = (cell["sort"] for cell in shown.context["explored_means"][0]["cells"])
        both = table.loc[["red", "green"]]
        assert (number, total) == pytest.approx((both["number"].sum(), both["total"].sum()), rel=1e-3)
        assert mean == pytest.approx(total / number)
        alone = table.loc["red", "number_upper"] - table.loc["red", "number_lower"]
        # Wider by the root of 2. The wider side is half of it, or nearly all of it where the whole number lies
        # at an end of what was measured.
        assert 1.05 < 2 * shown.context["explored"].half_width / alone < 3.2

    def test_at_most_so_many_rows_of_a_person_count(self, rich) -> None:
        """Colours are the persons: of each a hundred rows, of which two count."""
        dataset_services.declare_unit(rich, neighbours="add-remove", unit_column="colour", max_rows=2)
        building.granted(rich, building.person("another", "administrator"), "100")
        release = means(rich, groups=())
        true = records.stored_counts(release.true_counts)
        planned = drafts.planner_of(release).read_plan(release.plan_json).columns[0]
        assert true[0, 0, :3].sum() == 6 * planned.unit
        readme = files(release)["README.md"].decode()
        assert "`number` of rows with a value" in readme and "of people with a value" not in readme
        assert b"Estimated number of rows with a value" in files(release)["datapackage.json"]

    def test_a_column_with_all_values_outside_is_released_with_a_warning(self, rich, client) -> None:
        """Ages declared as 200 to 300: all count as 200; a group of nobody tells no mean."""
        colour = Categorical("colour", values=("red", "green", "blue", "violet"))
        dataset_services.declare_all(rich, [colour, Integer("age", lower=200, upper=300, width=10)])
        release = means(rich)
        table = table_of(release).set_index("colour")
        assert table.loc["red", ["mean", "share_at_low"]].tolist() == pytest.approx([200, 1], abs=0.5)
        assert np.isnan(table.loc["violet", "mean"]) or table.loc["violet", "number"] < 1
        services.publish(release, rich.owner)
        text = " ".join(page_of(client, release).split())
        assert "“Other” is of values that were not declared: its row stays" in text
        said = re.search(
            r"Values below 200 count as 200: nearly all, (?:at least )?([0-9.]+) %[^,]*, are 200 or below, so the true "
            "mean",
            text,
        )
        assert said and float(said[1]) > 80
        assert "not determined" in text

    def test_ages_by_groups_of_age_are_those_of_the_group(self, rich) -> None:
        """Of ages 0 to 99, each three times: 20 to 39 have the mean 29.5, and each row is in one group."""
        coarser = Integer("age group", lower=0, upper=99, width=20, source="age")
        age = Integer("age", lower=0, upper=99, width=10)
        dataset_services.declare_all(rich, [age, coarser])
        table = table_of(means(rich, groups=("age group",)))
        assert table["mean"][:5].tolist() == pytest.approx([9.5, 29.5, 49.5, 69.5, 89.5], abs=1.5)
        assert table["number"][:5].tolist() == pytest.approx([60] * 5, abs=2)
        assert table["share_at_low"][1] == pytest.approx(0, abs=0.05)

    def test_where_everybody_has_one_row_their_number_costs_nothing(self, rich, tmp_path) -> None:
        dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
        building.granted(rich, building.person("another", "administrator"), "100")
        release = means(rich, "0.01", groups=())
        row = table_of(release).iloc[0]
        assert row["number"] + row["without_value"] == 300 and row["number_upper"] <= 300
        for name, content in files(release).items():
            (tmp_path / name).write_bytes(content)
        run(tmp_path / "none", tmp_path)
        assert table_of(means(rich, groups=())).iloc[0]["mean"] == pytest.approx(MEAN, abs=1)


class TestDrafts:
    def test_what_is_shown_before_spending_is_of_a_group_of_average_size(self, rich, client) -> None:
        draft = drafted(rich)
        plan = drafts.plan_of(draft)[1]
        expected = planner_of(draft).offer(plan, draft)
        assert (expected["groups"], expected["group_people_text"]) == (4, "100")
        client.force_login(rich.owner)
        for step in ("method", "review"):
            text = client.get(reverse(f"releases:{step}", args=[draft.pk])).text
            row = expected["foreseen"][0]
            assert f"± {row['mean']}" in text
            assert step == "review" or f"± {row['deviation']} to ± {row['most_deviation']}" in text
        assert "Mean of age by colour" in text

    def test_a_group_of_average_size_is_the_same_for_a_summary(self, rich) -> None:
        """300 people in three declared groups: the one for other values is expected to have nobody."""
        chosen = {"columns": ["colour", "age"], "parameters": {"group": "colour", "twice": []}}
        summary = drafted(rich, product="summary", mechanism="column-tables", **chosen)
        offers = [planner_of(d).offer(drafts.plan_of(d)[1], d) for d in (drafted(rich), summary)]
        assert [offer["group_people_text"] for offer in offers] == ["100", "100"]

    def test_a_column_is_not_measured_and_grouped_by_at_once(self, rich, client) -> None:
        text = self._sent(rich, client, columns="age", groups="age").text
        assert "age cannot be measured and say the groups at once" in text

    def test_a_column_is_measured_by_a_coarser_one_but_not_grouped_by_both(self, rich, client) -> None:
        ages = [Integer("age", lower=0, upper=99, width=10)]
        ages += [Integer(f"by {n}", lower=0, upper=99, width=n, source="age") for n in (20, 50)]
        dataset_services.declare_all(rich, ages)
        assert self._sent(rich, client, columns="age", groups="by 20").status_code == 302
        assert "Choose one of them" in self._sent(rich, client, columns="age", groups=["by 20", "by 50"]).text

    def test_a_million_groups_are_refused_at_their_field(self, rich, client) -> None:
        colour = Integer("colour", lower=1, upper=10**6)
        dataset_services.declare_all(rich, [colour, Integer("age", lower=0, upper=99, width=10)])
        assert "These are 1,000,000 groups" in self._sent(rich, client, columns="age", groups="colour").text

    def test_a_step_beyond_the_range_is_refused_at_its_field(self, rich, client) -> None:
        text = self._sent(rich, client, columns="age", **{"step-0": "1000"}).text
        assert "the step is larger than the range" in text

    def test_only_numbers_are_offered_and_a_choice_is_kept(self, rich, client) -> None:
        answer = self._sent(rich, client, columns="age", groups="colour", deviation="on", **{"step-0": "5"})
        assert answer.status_code == 302
        draft = Release.objects.get()
        assert draft.columns == ["colour", "age"]
        assert draft.parameters == {"measured": ["age"], "deviation": True, "steps": {"age": "5"}}
        shown = client.get(reverse("releases:columns", args=[draft.pk])).context["form"]
        assert [name for name, _title in shown.fields["columns"].choices] == ["age"]
        assert shown["groups"].value() == ["colour"]

    def test_a_step_that_does_not_end_at_the_bound_is_said_where_it_ends(self, rich, client) -> None:
        draft = drafted(rich, parameters={"measured": ["age"], "deviation": True, "steps": {"age": "10"}})
        client.force_login(rich.owner)
        text = " ".join(client.get(reverse("releases:method", args=[draft.pk])).text.split())
        assert "0 to 90 in steps of 10" in text
        assert "These steps do not end at 99: values above 90 count as 90." in text

    @pytest.mark.slow
    def test_what_cannot_be_measured_is_said_on_its_page_and_spends_nothing(self, rich, client) -> None:
        """More rows than any table has."""
        dataset_services.declare_all(rich, [Integer("age", lower=0, upper=99_999)])
        draft, before = drafted(rich, columns=["age"], people=10**12), LedgerEntry.objects.count()
        client.force_login(rich.owner)
        assert "would exceed 64 bits" in client.get(reverse("releases:method", args=[draft.pk])).text
        answer = client.post(reverse("releases:review", args=[draft.pk]), {"understood": "on"}, follow=True)
        draft.refresh_from_db()
        assert "64 bits" in answer.text and draft.state == Release.State.DRAFT
        assert LedgerEntry.objects.count() == before

    def test_a_small_budget_or_fine_steps_refuse_no_table(self, rich) -> None:
        """Also where nobody says how many people there are: it could be as many as in any table."""
        colour = Categorical("colour", values=("red", "green", "blue"))
        dataset_services.declare_all(rich, [colour, Integer("age", lower=0, upper=99_999)])
        for people in (300, 10**9, None):
            assert drafts.plan_of(drafted(rich, people=people, amount=Decimal("0.01")))

    def test_a_table_without_numbers_has_nothing_to_measure(self, rich) -> None:
        with pytest.raises(DraftError, match="column of numbers or dates"):
            drafts.plan_of(drafted(rich, columns=["colour"]))

    def _sent(self, rich: Dataset, client: Client, **fields: str | list[str]):
        draft = Release.objects.create(dataset=rich, created_by=rich.owner, product="means")
        client.force_login(rich.owner)
        return client.post(reverse("releases:columns", args=[draft.pk]), {"people": "300", **fields})


def test_the_largest_table_has_sums_that_every_engine_adds_up_in_64_bits() -> None:
    number, first = MOST_ROWS, MOST_ROWS * MAX_STEPS
    high, low = MOST_ROWS * (MAX_STEPS**2 // PART), MOST_ROWS * (PART - 1)
    assert max(number, first, high, low) < 2**63


def test_the_curator_hears_of_sums_that_were_cut() -> None:
    plan = BernsteinSums().plan(
        Domain((Boolean("g"),)),
        [MeasuredColumn.of(Integer("x", lower=0, upper=9))],
        1,
        Loss(Definition.PURE, Fraction(1)),
        10,
    )
    powers = np.array([[[5, 5, 5, 0, 0, 0], [10**17, 10**17, 10**17, 0, 0, 0], [0] * 6]], dtype=object)
    true = exact_sums(plan, powers[:, : plan.groups.size])
    shown = comparison.build(plan, GroupMeans.of(plan, true), true)
    assert shown["cut"] == 1
    text = render_to_string("releases/means/_compare.html", {"comparison": shown, "release": Release()})
    assert "The sums of 1 group were larger than can be measured" in text


@pytest.mark.slow
def test_decimals_and_missing_values(curator, administrator, client) -> None:
    """Of three decimals 0.1, 0.2 and 6.3 and two without a value: number 3, total 6.6, mean 2.2."""
    client.force_login(curator)
    content = "x\n" + "\n".join(["0.1", "0.2", "6.3", "", "none"] * 50)
    dataset = building.granted(building.uploaded(client, content.encode()), administrator, "100")
    dataset_services.declare_all(dataset, [Real("x", lower=0.0, upper=8.0, bins=4)])
    row = table_of(means(dataset, groups=(), measured=["x"], steps={"x": "0.1"})).iloc[0]
    assert row["mean"] == pytest.approx(2.2, abs=0.1)
    assert row["number"] == pytest.approx(150, abs=3)
    assert row["without_value"] == pytest.approx(100, abs=3)


@pytest.mark.slow
def test_dates_have_a_mean_and_no_total(curator, administrator, client, tmp_path) -> None:
    """The 1st, 11th and 21st of January 2020: the 11th on average, each a hundred times; ε = 50."""
    client.force_login(curator)
    rows = ["a,2020-01-01", "b,2020-01-11", "b,2020-01-21"] * 100
    dataset = building.granted(
        building.uploaded(client, ("g,day\n" + "\n".join(rows)).encode()), administrator, "100"
    )
    day = Date("day", lower=dt.date(2020, 1, 1), upper=dt.date(2020, 1, 31))
    dataset_services.declare_all(dataset, [Categorical("g", values=("a", "b")), day])
    release = means(dataset, groups=("g",), measured=["day"])
    table, together = table_of(release), table_of(release, "in_all.csv").iloc[0]
    assert set(table["mean_unit"]) == {"days since 1970-01-01"} == {together["mean_unit"]}
    # Bundle and verifier agree on that column, and it is no dimension of the observations.
    path = downloaded(release, tmp_path)
    run(path, tmp_path / "unpacked")
    [package] = (tmp_path / "unpacked").rglob("datapackage.json")
    assert not failed(path) and frictionless.validate(str(package)).valid
    assert "total" not in table and together["deviation"] == pytest.approx(np.std([1, 11, 21]), abs=1)
    assert abs(
        dt.date(1970, 1, 1) + dt.timedelta(float(together["mean"])) - dt.date(2020, 1, 11)
    ) <= dt.timedelta(1)
    services.publish(release, curator)
    text = page_of(client, release)
    assert "2020-01-11" in text or "2020-01-10" in text
    assert "At 2020-01-01 or below" in text and ">Total<" not in text
    text = client.get(reverse("releases:compare", args=[release.pk])).text
    assert "true: 2020-01-16" in text
    shown = client.get(reverse("releases:explore", args=[release.pk]), {"pick-asked": "1"}).text
    assert "2020-01-1" in shown
    draft = services.start_draft(dataset, curator)
    draft.product, draft.columns, draft.people = "means", ["g", "day"], 300
    draft.parameters, draft.amount, draft.mechanism = {"measured": ["day"]}, Decimal(1), "bernstein-sums"
    draft.save()
    text = client.get(reverse("releases:method", args=[draft.pk])).text
    assert "2020-01-01 to 2020-01-31 in steps of 1 day" in text


def test_a_page_of_many_groups_and_columns_has_the_first_and_says_so() -> None:
    groups = Domain((Integer("code", lower=0, upper=299, width=1),))
    columns = [MeasuredColumn.of(Integer(f"c{i}", lower=0, upper=9)) for i in range(20)]
    plan = BernsteinSums().plan(groups, columns, 2, Loss(Definition.PURE, Fraction(1)), 1000)
    shown = page(plan, GroupMeans.of(plan, np.zeros((20, groups.size, plan.sums), dtype=np.int64)))
    assert sum(len(column["rows"]) for column in shown["columns"]) == 20 * (25 + 1)
    text = render_to_string("releases/means/_page.html", {"shown": shown, "alone": True})
    assert f"The first 25 of {groups.size} groups; the downloads have all." in " ".join(text.split())
    assert sum("figure" in column for column in shown["columns"]) == 8
    assert "Charts are drawn of the first 8 columns" in " ".join(text.split())
