"""A summary of all columns ("Table 1"), from a draft through the job to bundle and pages."""

from __future__ import annotations

import datetime as dt
import io
import re
from decimal import Decimal

import frictionless
import numpy as np
import pandas as pd
import pytest
from django.test import Client
from django.urls import reverse

from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts, results, services
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, planner_of, presenter_of
from dpportal.releases.products.shared.cells import COUNT_AND_SHARE, SINGLE, CellNumber, margin_text
from dpportal.releases.products.summary.form import usual_columns
from dpportal.releases.templatetags.summary_cells import shown_cell
from mechanisms.domain import Boolean, Categorical, Date, Domain, Integer
from mechanisms.summary.truth import true_summary
from tests.dpportal import building
from tests.dpportal.markup import outline
from tests.dpportal.releases.products.building import files, finished, page_of

# Ages of each colour: 0 to 99, each once.
MEAN, DEVIATION = 49.5, float(np.arange(100).std())


def test_every_number_of_a_cell_is_followed_by_its_own_margin() -> None:
    """Estimate and margin stood in two lines by one pattern, so that three ways told what belongs to what."""
    cell = shown_cell({"text": "1,234 ± 1,006 (60.1 % [58.4 to 62.8 %])", "sort": 1})
    small = '<small class="range in-one-line">'
    first, second = (
        f"1,234\u00a0{small}±\u00a01,006</small>",
        f"(60.1\u00a0% {small}[58.4 to 62.8\u00a0%]</small>)",
    )
    assert f'<span class="in-one-line">{first}</span> <span class="in-one-line">{second}</span>' in cell
    shares = shown_cell({"text": "5 ± less than 1 (3 ± 1, 8 ± 2)", "sort": 1})
    assert re.findall(f"{small}([^<]*)<", shares) == ["±\u00a0less than 1", "±\u00a01,", "±\u00a02"]


def test_no_line_ends_within_a_day() -> None:
    cell = shown_cell({"text": "2025-07-04 ± 25 days (2025-04-04 [2025-04-01 to 2025-06-01])", "sort": 1})
    assert cell.count('<span class="in-one-line">2025-') == 4


def summarised(dataset: Dataset, amount: str = "50", group: str = "colour", **chosen) -> Release:
    parameters = {"group": group, "twice": [], **chosen}
    return finished(dataset, "summary", ["colour", "age"], amount, "column-tables", **parameters)


def table_of(release: Release, name: str = "summary.csv") -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files(release)[name]), keep_default_na=False, na_values=[""])


def sent(dataset: Dataset, client: Client, address: str = "", **fields: object):
    draft = Release.objects.create(dataset=dataset, created_by=dataset.owner, product="summary")
    client.force_login(dataset.owner)
    return client.post(
        address or reverse("releases:columns", args=[draft.pk]), {"people": "300", **fields}, follow=True
    )


@pytest.fixture
def release(rich) -> Release:
    return summarised(rich)


@pytest.mark.slow
class TestReleased:
    def test_numbers_come_close_when_there_is_hardly_any_noise(self, release) -> None:
        table = table_of(release)
        ages = table[table["column"] == "age"].set_index(["group", "statistic"])["estimate"]
        for colour in ("red", "green", "blue"):
            assert ages[colour, "mean"] == pytest.approx(MEAN, abs=1)
            assert ages[colour, "deviation"] == pytest.approx(DEVIATION, abs=1)
            assert ages[colour, "quantile_50"] == pytest.approx(50, abs=3)
        people = table[
            (table["statistic"] == "number") & table["column"].isna() & (table["whose"] == "everybody")
        ]
        assert people["estimate"].iloc[0] == pytest.approx(300, abs=5)

    def test_every_file_is_there_and_fits_its_description(self, release, tmp_path) -> None:
        given = files(release)
        names = ("summary", "totals", "density", "table1")
        assert {f"{name}.{end}" for name in names for end in ("csv", "xlsx")} <= set(given)
        assert {"table1.html", "table1.tex", "codebook.csv", "report.html"} <= set(given)
        for name, content in given.items():
            (tmp_path / name).write_bytes(content)
        assert frictionless.validate(str(tmp_path / "datapackage.json")).valid
        before = {artifact.name: artifact.sha256 for artifact in release.artifacts.all()}
        again = building.written_again(release)
        assert {artifact.name: artifact.sha256 for artifact in again} == before

    def test_of_a_group_of_nobody_files_have_what_is_counted_and_the_page_says_so(
        self, release, client
    ) -> None:
        table, density = table_of(release), pd.read_csv(io.BytesIO(files(release)["density.csv"]))
        other = table[table["group"] == "Other"]
        assert "number" in set(other["statistic"]) and "mean" not in set(other["statistic"])
        assert not other["estimate"].isna().any() and "Other" not in set(density["group"])
        services.publish(release, release.dataset.owner)
        for text in (page_of(client, release), files(release)["table1.html"].decode()):
            text = " ".join(text.split())
            assert "The group “Other” of colour is not shown" in text
            assert "Of such a group the downloads have counts only." in text

    def test_the_page_by_itself_fetches_nothing_and_latex_closes_what_it_opens(self, release) -> None:
        given = files(release)
        text, tex = given["table1.html"].decode(), given["table1.tex"].decode()
        assert not re.search(r"(src|href)=|url\((?!.?data:|#)|@import|<script", text)
        assert "Mean (SD)" in text and "ε = 50" in text
        assert sorted(re.findall(r"\\begin{(\w+)}", tex)) == sorted(re.findall(r"\\end{(\w+)}", tex))
        rows = [line for line in tex.splitlines() if line.startswith(r"\quad")]
        assert rows and len({re.sub(r"\\&", "", row).count("&") for row in rows}) == 1
        assert r"$\pm$" in tex and "±" not in tex

    def test_the_public_page_is_a_table_with_margins_and_without_truth(self, release, client) -> None:
        services.publish(release, release.dataset.owner)
        text = page_of(client, release)
        assert "Median (Q1, Q3)" in text and '<svg class="mark"' in text and "±" in text
        assert "true:" not in text
        for artifact in release.artifacts.all():
            assert (
                client.get(reverse("releases:download", args=[release.pk, artifact.name])).status_code == 200
            )
        # Nobody is of another colour than those declared, so the table has no column for them.
        heads = [head["name"] for head in results.stored_page(release)["table_one"]["heads"]]
        assert heads == ["Overall", "red", "green", "blue"]

    def test_a_reader_adds_up_groups_and_values(self, release, client) -> None:
        """Red and green have 200 people, of whom those of 20 to 39 are 40, a total of 9,900 and the mean 49.5."""
        services.publish(release, release.dataset.owner)
        numbers = table_of(release, "totals.csv").set_index(["group", "column", "statistic"])["estimate"]

        def asked(**picks: object):
            query = {"pick-asked": "1", "pick-in-0": ["0", "1"], **picks}
            return client.get(reverse("releases:explore", args=[release.pk]), query).context

        shown = asked()
        number, total, mean = (cell["sort"] for cell in shown["explored_means"][0]["cells"])
        both = [numbers[colour, "age", "total"] for colour in ("red", "green")]
        assert total == pytest.approx(sum(both)) == pytest.approx(number * mean)
        assert total == pytest.approx(9900, abs=300)
        assert shown["explored"].estimate == pytest.approx(200, abs=4)
        young = asked(**{"pick-from-1": "20", "pick-to-1": "39"})
        assert "explored_means" not in young and young["explored"].cells == 40
        found = young["explored"]
        assert abs(found.estimate - 40) <= 3 * found.half_width and 0 < found.half_width < 20

    def test_two_groups_have_a_difference(self, rich) -> None:
        dataset_services.declare(rich, "colour", Categorical("colour", values=("red", "green"), closed=True))
        release = summarised(rich)
        table = results.stored_page(release)["table_one"]
        assert table["difference_name"] == "green − red"
        numbers = table_of(release).set_index(["column", "statistic"])
        of_ages = numbers.loc[("age", "difference")]
        # A spreadsheet would take a plus for a formula.
        assert not table_of(release, "table1.csv")["difference"].astype(str).str.match(r"['+]").any()
        assert (of_ages["group"], of_ages["reference"]) == ("green", "red")
        assert abs(of_ages["estimate"]) < 2

    def test_the_comparison_has_the_exact_truth(self, release, client) -> None:
        comparison = records.comparison(release.dataset_id, release.pk)
        assert comparison is not None
        lines = pd.DataFrame(comparison["table"], columns=comparison["header"])
        true = lines[lines["column"] == "age"].set_index(["group", "statistic"])["true"]
        assert (true["red", "mean"], true["red", "deviation"]) == pytest.approx((MEAN, DEVIATION))
        assert presenter_of(release).verdict(comparison).is_useful
        client.force_login(release.dataset.owner)
        text = client.get(reverse("releases:compare", args=[release.pk])).text
        assert "true: 49.5" in text and "of all numbers; 95 % or more expected" in text
        assert outline(text) == ["column-0-numbers", "else"]
        public = client.get(reverse("releases:public", args=[release.pk])).text
        assert "column-0-numbers" in outline(public)

    @pytest.mark.parametrize(("group", "people"), [("colour", 200), ("", 300)])
    def test_only_the_groups_leave_rows_out(self, rich, group, people) -> None:
        """Blue is not declared, and no other value takes its rows: they are in no group, but everybody has them."""
        dataset_services.declare(rich, "colour", Categorical("colour", values=("red", "green"), closed=True))
        release = summarised(rich, group=group)
        true = true_summary(confirmed_plan(release), records.stored_counts(release.true_counts))
        [ages] = [column for column in true.columns if hasattr(column, "mean")]
        found = (true.number.estimate[-1], ages.number.estimate[-1], ages.mean.estimate[-1])
        assert found == pytest.approx((people, people, MEAN))
        readme = files(release)["README.md"].decode()
        assert ("have no declared value in colour are left out" in readme) == bool(group)

    def test_at_most_so_many_rows_of_a_person_count(self, rich) -> None:
        """Colours are the persons: of each a hundred rows, of which two count."""
        dataset_services.declare_unit(rich, neighbours="add-remove", unit_column="colour", max_rows=2)
        building.granted(rich, building.person("another", "administrator"), "100")
        release = summarised(rich)
        true = true_summary(confirmed_plan(release), records.stored_counts(release.true_counts))
        assert true.number.estimate[-1] == pytest.approx(6)


class TestDrafts:
    def test_from_the_datasets_page_every_column_is_chosen(self, rich, client) -> None:
        client.force_login(rich.owner)
        assert "Prepare Table 1" in client.get(reverse("datasets:home", args=[rich.pk])).text
        address = reverse("releases:summarise", args=[rich.pk])
        answer = sent(rich, client, address, group="colour")
        draft = Release.objects.exclude(people=None).get()
        assert (draft.columns, draft.product) == (["colour", "age"], "summary")
        assert answer.redirect_chain[-1][0] == reverse("releases:method", args=[draft.pk])
        assert "Margins to expect in a group of 100 people" in answer.text
        assert draft.proposed_title == "Summary of age by colour"

    def test_without_an_estimate_the_form_asks_for_it_with_every_column_ticked(self, rich, client) -> None:
        address = reverse("releases:summarise", args=[rich.pk])
        answer = sent(rich, client, address, people="")
        assert answer.redirect_chain[-1][0].endswith("/columns/")
        assert answer.context["form"]["columns"].value() == ["colour", "age"]

    def test_of_two_declarations_of_a_column_the_first_is_ticked(self) -> None:
        age, decade = Integer("age", lower=0, upper=99), Integer("decade", lower=0, upper=9, source="age")
        assert usual_columns(Domain((age, decade, Boolean("x")))) == ["age", "x"]

    def test_a_million_groups_are_refused_at_their_field(self, rich, client) -> None:
        dataset_services.declare_all(rich, [Integer("age", lower=1, upper=10**6), Boolean("colour")])
        answer = sent(rich, client, columns=["age", "colour"], group="age")
        assert "it has more than 20 values" in answer.text

    def test_groups_alone_are_no_table(self, rich, client) -> None:
        answer = sent(rich, client, columns=["colour"], group="colour")
        assert "Choose a column besides the one that makes the groups" in answer.text

    @pytest.mark.parametrize("twice", ["colour", "age"])
    def test_a_column_that_is_not_chosen_or_makes_the_groups_cannot_matter_twice(
        self, rich, client, twice
    ) -> None:
        dataset_services.declare_all(rich, [Integer("age", lower=0, upper=9), Boolean("colour")])
        own = {"columns": ["colour"]} if twice == "age" else {"columns": ["colour", "age"], "group": "colour"}
        answer = sent(rich, client, **own, twice=[twice])
        assert "can matter twice" in answer.text and f"Leave out here: {twice}." in answer.text
        assert not Release.objects.get().parameters

    def test_a_column_that_matters_twice_has_a_smaller_margin(self, rich) -> None:
        def margins(twice: list[str]) -> dict[str, float]:
            draft = Release.objects.create(
                dataset=rich, created_by=rich.owner, product="summary", mechanism="column-tables", people=300,
                columns=["colour", "age"], parameters={"group": "", "twice": twice}, amount=Decimal(1),
            )  # fmt: skip
            offer = planner_of(draft).offer(drafts.plan_of(draft)[1], draft)
            return {row["name"]: float(row["share"]) for row in offer["foreseen"]}

        assert margins(["colour"])["colour"] < margins([])["colour"]

    def test_a_wanted_margin_of_a_mean_finds_its_cost(self, rich, client) -> None:
        """Within 5 % of the range: the dial answers with a cost, at which that is the margin of a typical mean."""
        draft = Release.objects.create(
            dataset=rich, created_by=rich.owner, product="summary", mechanism="column-tables", people=300,
            columns=["colour", "age"], parameters={"group": "", "twice": []}, amount=Decimal(1),
        )  # fmt: skip
        client.force_login(rich.owner)
        query = {"further_half_width": "5", "mechanism": "column-tables"}
        found = client.get(reverse("releases:dial", args=[draft.pk]), query).json()
        assert 4.8 < found["further_half_width"] <= 5 and found["half_width"]
        text = client.get(reverse("releases:method", args=[draft.pk])).text
        assert "Margin of a typical share" in text and "Margin of a typical mean" in text
        draft.columns = ["age"]
        draft.save()
        text = client.get(reverse("releases:method", args=[draft.pk])).text
        assert "Margin of a typical share" not in text and "Margin of a typical mean" in text

    def test_what_would_say_nothing_is_marked_before_spending(self, rich, client) -> None:
        draft = Release.objects.create(
            dataset=rich, created_by=rich.owner, product="summary", mechanism="column-tables", people=3,
            columns=["colour", "age"], parameters={"group": "colour", "twice": []}, amount=Decimal("0.01"),
        )  # fmt: skip
        client.force_login(rich.owner)
        text = client.get(reverse("releases:method", args=[draft.pk])).text
        assert "age would say nothing" in text and "Expected: useless" in text


@pytest.mark.slow
def test_dates_are_days_and_missing_values_are_told(curator, administrator, client) -> None:
    """The 1st, 11th and 21st of January 2020 and none, each a hundred times; ε = 50."""
    client.force_login(curator)
    rows = ["a,2020-01-01", "b,2020-01-11", "b,2020-01-21", "a,"] * 100
    dataset = building.granted(
        building.uploaded(client, ("g,day\n" + "\n".join(rows)).encode()), administrator, "100"
    )
    day = Date("day", lower=dt.date(2020, 1, 1), upper=dt.date(2020, 1, 31))
    dataset_services.declare_all(dataset, [Categorical("g", values=("a", "b")), day])
    release = finished(
        dataset, "summary", ["g", "day"], "50", "column-tables", group="", twice=[], people=400
    )
    numbers = table_of(release)
    numbers = numbers[numbers["column"] == "day"].set_index("statistic")["estimate"]
    assert abs(dt.date(1970, 1, 1) + dt.timedelta(numbers["mean"]) - dt.date(2020, 1, 11)) <= dt.timedelta(1)
    assert numbers["missing"] == pytest.approx(0.25, abs=0.02)
    services.publish(release, curator)
    assert re.search(r"2020-01-1\d", page_of(client, release))


def test_a_margin_is_the_wider_side_rounded_up() -> None:
    """1,234 people, 1,229 to 1,239.5; their share 12.34 %, 12.205 to 12.475."""
    shown = COUNT_AND_SHARE.cell(
        [CellNumber(1234, 1229, 1239.5, "people"), CellNumber(0.1234, 0.12205, 0.12475, "share")]
    )
    assert shown["text"] == "1,234 ± 6 (12.34 % ± 0.14)"


@pytest.mark.parametrize(
    ("told", "margin"),
    [
        (CellNumber(32.0, 0.0, 124.0, "people"), "[0 to 124]"),
        (CellNumber(3.0, 0.0, 9.0, ""), "[0.0 to 9.0]"),
        (CellNumber(222.4, 0.0, 763.6, ""), "[0 to 764]"),
        (CellNumber(3989.0, 3861.0, 4067.0, "people"), "[3,861 to 4,067]"),
        (CellNumber(1234.0, 1230.0, 1239.5, "people"), "[1,230 to 1,240]"),
        (CellNumber(0.1234, 0.122, 0.1246, "share"), "[12.20 to 12.46 %]"),
        (CellNumber(50.0, 0.0, 102.0, "people"), "[0 to 102]"),
        (CellNumber(50.0, 0.0, 100.0, "people"), "± 50"),
    ],
)
def test_sides_that_differ_by_more_than_rounding_are_both_written(told: CellNumber, margin: str) -> None:
    """Nor does a margin reach below 0, or above all, where the interval does not."""
    assert margin_text(told) == margin


def test_a_standard_deviation_that_may_be_0_is_told_by_its_ends_alone() -> None:
    assert SINGLE.cell([CellNumber(318.0, 0.0, 2214.4, "spread")])["text"] == "0 to 2,215"
    assert SINGLE.cell([CellNumber(318.0, 300.0, 336.0, "spread")])["text"] == "318 ± 18"


def test_ends_are_rounded_outwards() -> None:
    for numbers, words in (((0.0, 0.0, 0.3901), "0 to 40 %"), ((0.96, 0.915, 1.0), "91.5 to 100.0 %")):
        shown = SINGLE.cell([CellNumber(*numbers, "share")])
        assert shown["text"] == words
    shown = COUNT_AND_SHARE.cell([CellNumber(2.0, 0.0, 9.0, "people"), CellNumber(0.0, 0.0, 0.3901, "share")])
    assert shown["text"] == "2 [0 to 9] (0 % [0 to 40 %])"
    assert margin_text(CellNumber(40.0, 40.0, 41.0, "whole")) == "[40 to 41]"


def test_a_number_has_the_digits_that_its_own_margin_bears_whatever_stands_below_it() -> None:
    numbers = (47.442, 46.0, 48.886), (38.5712, 38.5, 38.64), (np.nan,) * 3
    shown = [SINGLE.cell([CellNumber(*each)]) for each in numbers]
    assert [cell["text"] for cell in shown] == ["47.4 ± 1.5", "38.571 ± 0.072", ""]
    assert SINGLE.cell([CellNumber(30.0, 1.0, 65.575)])["text"] == "30 [1 to 66]"
