"""What readers add up where a release has no cells of its own: answers, marginal tables, synthetic rows."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import services
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.test_explorer import page


def table(release, name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files(release)[name]))


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["randomised-response", "unary-encoding"])
def test_randomised_answers_have_the_sum_of_their_estimates(client, rich, mechanism):
    dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    release = finished(rich, "response", ["age"], "1", mechanism)
    services.publish(release, rich.owner)
    found = page(client, release, "pick-from-0=2&pick-to-0=4").context["explored"]
    estimates = table(release, "estimates.csv")["estimate"]
    # Those below 0 may leave next to nothing of the others; the file has six digits of each.
    written = estimates[2:5].abs().sum() * 1e-5
    assert found.estimate == pytest.approx(estimates[2:5].sum(), abs=written)
    assert 0 < found.half_width < building.ROWS
    everyone = page(client, release, "pick-asked=1").context["explored"]
    assert (everyone.estimate, everyone.half_width) == (building.ROWS, 0)


@pytest.mark.slow
def test_a_private_choice_has_nothing_to_add_up(client, rich):
    release = finished(rich, "selection", ["colour"], "1", "permute-and-flip", score="most-common")
    services.publish(release, rich.owner)
    assert "Add up cells" not in client.get(release.get_absolute_url()).text
    assert client.get(f"/releases/{release.pk}/explore/?pick-in-0=1").status_code == 404


@pytest.fixture
def eight(curator, administrator) -> Dataset:
    """Eight columns of 300 people, of whom those of 50 or more are in the south; more than are asked about at once."""
    random = np.random.default_rng(3)
    ages = random.integers(0, 100, building.ROWS)
    columns = {"age": ages.astype(str).tolist(), "side": ["south" if a >= 50 else "north" for a in ages]}
    others = {f"q{i}": random.choice(["yes", "no"], building.ROWS).tolist() for i in range(6)}
    attributes = [
        Integer("age", lower=0, upper=99, width=10),
        Categorical("side", values=("north", "south")),
        *(Categorical(name, values=("yes", "no")) for name in others),
    ]
    dataset = dataset_of(curator, "Eight columns", {**columns, **others}, attributes)
    return building.granted(dataset, administrator, "100", "zcdp")


NAMES = ["age", "side", *(f"q{i}" for i in range(6))]


@pytest.mark.slow
def test_of_many_columns_a_reader_says_first_which_matter(client, eight):
    release = finished(eight, "microdata", NAMES, "50", "tree-of-pairs", rows=None, wishes={})
    services.publish(release, eight.owner)
    assert "Which columns matter?" in client.get(release.get_absolute_url()).text
    assert "at most 6 columns" in page(client, release, "&".join(f"pick-columns={i}" for i in range(7))).text
    assert "Pick at least one" in page(client, release, "pick-which=1").text
    asked = page(client, release, "pick-columns=0&pick-columns=3")
    assert asked.text.count("<legend>") == 2 and "explored" not in asked.context


@pytest.mark.slow
def test_synthetic_rows_tell_what_was_measured_and_what_is_only_modelled(client, eight):
    release = finished(eight, "microdata", NAMES, "50", "tree-of-pairs", rows=None, wishes={})
    services.publish(release, eight.owner)
    alone = page(client, release, "pick-columns=0&pick-from-0=2&pick-to-0=3")
    measured = table(release, "columns.csv").query("column == 'age'")["noisy_count"].iloc[2:4]
    assert (alone.context["explored"].estimate, alone.context["explored"].cells) == (measured.sum(), 2)
    assert "Read from the noisy counts" in alone.text and "Only modelled" not in alone.text
    three = page(client, release, "&".join(f"pick-columns={i}&pick-in-{i}=0" for i in (2, 3, 4)))
    rows = table(release, "synthetic.csv")
    inside = (rows[["q0", "q1", "q2"]] == "yes").all(axis=1).mean()
    assert three.context["explored"].half_width is None
    assert three.context["explored"].estimate == pytest.approx(inside * building.ROWS, rel=0.05)
    assert "Only modelled" in three.text and "±" not in three.text


@pytest.mark.slow
def test_marginal_tables_too_wide_for_cells_have_sums_with_intervals(client, eight):
    workload = 'identity("age") x identity("side") + identity("q0") x identity("q1")'
    release = finished(
        eight, "queries", NAMES, "50", "residual-planner", workload=workload, reconstruction="nnls"
    )
    services.publish(release, eight.owner)
    old = page(client, release, "pick-columns=0&pick-columns=1&pick-from-0=5&pick-in-1=1").context["explored"]
    people = int((np.random.default_rng(3).integers(0, 100, building.ROWS) >= 50).sum())
    assert old.cells == 5
    assert 0 < old.half_width < 5
    assert abs(old.estimate - people) <= 4 * old.half_width
    apart = page(client, release, "pick-columns=0&pick-columns=2&pick-from-0=5&pick-in-2=1")
    assert apart.context["unexplored"] and "does not determine" in apart.text
