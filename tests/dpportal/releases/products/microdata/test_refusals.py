"""What cannot become a synthetic table: the wizard says why and what to do, and nothing is spent."""

from __future__ import annotations

import io
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpportal.accounts.models import User
from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from mechanisms.domain import Attribute, Boolean, Categorical, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished
from tests.dpportal.releases.products.microdata.building import dataset_of

# Besides yes-or-no columns c0, c1, …: c1 is c0 again.
FEW: list[Attribute] = [
    Integer("one", lower=3, upper=3),
    Integer("many", lower=0, upper=9999),
    Integer("others", lower=0, upper=9999),
    Categorical("town", values=("x", "y"), closed=True, misfits_to=0),
]


@pytest.fixture
def wide(request, curator: User, administrator: User) -> Dataset:
    """Four columns, and as many more of yes or no as the test asks for."""
    random, rows, more = np.random.default_rng(2), building.ROWS, getattr(request, "param", 2)
    yes = random.random((rows, more)) < 0.5
    yes[:, 1] = yes[:, 0]
    table = {
        "one": ["3"] * rows,
        "many": random.integers(0, 10_000, rows).astype(str).tolist(),
        "others": ["7"] * rows,
        "town": random.choice(["x", "y"], rows).tolist(),
        **{f"c{j}": np.where(yes[:, j], "true", "false").tolist() for j in range(more)},
    }
    attributes = [*FEW, *(Boolean(f"c{j}") for j in range(more))]
    return building.granted(dataset_of(curator, "Wide", table, attributes), administrator, "100")


def answered(client, dataset: Dataset, **answer) -> tuple[str, Release]:
    """The page after the wizard's second step, and the draft."""
    client.force_login(dataset.owner)
    draft = Release.objects.create(dataset=dataset, created_by=dataset.owner, product="microdata")
    given = {"people": 300, "target": "", "rows": "", "keep": "", **answer}
    response = client.post(f"/releases/{draft.pk}/columns/", given, follow=True)
    assert response.status_code in (200, 422)
    return response.content.decode(), draft


def untouched(dataset: Dataset) -> bool:
    budget = dataset.budgets.get()
    return budget.spent == budget.reserved == 0 and not dataset.releases.exclude(state="draft").exists()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"columns": ["town"]}, "Choose between 2 and 250 columns, not 1"),
        ({"columns": []}, "Choose between 2 and 250 columns"),
        ({"columns": ["town", "one"]}, "Column one has one value only"),
        ({"columns": ["many", "others"]}, "have 100,000,000 cells; at most 33,554,432 fit in memory"),
        ({"columns": ["town", "c0"], "target": "c1"}, "c1 is not among the chosen columns"),
        ({"columns": ["town", "c0"], "target": "c0", "keep": "251"}, "less than or equal to 250"),
        (
            {
                "columns": ["town", "c0"],
                "zeros": "town,x,c0,true\ntown,x,c0,false\ntown,y,c0,true\ntown,y,c0,false",
            },
            "leave no row possible",
        ),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_spent(wide, client, answer, message) -> None:
    text, draft = answered(client, wide, **answer)
    assert message in text and "Methods compared" not in text
    draft.refresh_from_db()
    assert draft.columns == [] and untouched(wide)


def asked(client, dataset: Dataset) -> str:
    """The page of the wizard's second step."""
    client.force_login(dataset.owner)
    draft = Release.objects.create(dataset=dataset, created_by=dataset.owner, product="microdata")
    return client.get(f"/releases/{draft.pk}/columns/").content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wide", "said"),
    [(296, "Choose between 2 and 250 columns, not 299"), (2, "at most 33,554,432 fit in memory")],
    indirect=["wide"],
)
def test_all_columns_are_offered_only_where_they_can_be_taken(wide, client, said) -> None:
    page = asked(client, wide)
    assert "Not all columns of the table can be taken together" in page and said in page
    assert "Take all" not in page


def test_columns_of_one_value_are_not_among_all_that_are_offered(wide, client) -> None:
    services.declare(wide, "others", Integer("others", lower=0, upper=9))
    page = asked(client, wide)
    assert "Take all 5 columns with more than one value" in page and page.count("data-once>") == 5


def test_all_columns_are_taken_whatever_readers_call_them(wide, client) -> None:
    services.declare(wide, "others", Integer("others", lower=0, upper=9, title="Another name"))
    assert asked(client, wide).count("data-once>") == 5


@pytest.mark.slow
@pytest.mark.parametrize("wide", [70], indirect=True)
def test_a_table_of_seventy_columns_is_released_with_all_of_them(wide, client) -> None:
    columns = [f"c{j}" for j in range(70)]
    text, _draft = answered(client, wide, columns=columns)
    assert "Methods compared" in text and "is being tried out" in text
    release = finished(wide, "microdata", columns, "50", "tree-of-pairs", wishes={}, rows=None, keep=None)
    assert pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"])).columns.tolist() == columns


@pytest.mark.slow
@pytest.mark.parametrize("wide", [500], indirect=True)
def test_five_hundred_columns_are_refused(wide, client) -> None:
    text, _draft = answered(client, wide, columns=[f"c{j}" for j in range(500)], target="c0", keep="5")
    assert "not 500. Of more, release groups that belong together" in text
    assert untouched(wide)


@pytest.mark.slow
@pytest.mark.parametrize("wide", [120], indirect=True)
def test_of_many_columns_those_that_tell_most_are_kept(wide) -> None:
    """Of 120 columns only c1 tells anything of c0."""
    columns = [f"c{j}" for j in range(120)]
    release = finished(
        wide, "microdata", columns, "100", "tree-of-pairs", wishes={"target": "c0"}, rows=None, keep=2
    )
    assert pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"])).columns.tolist() == ["c0", "c1"]
    assert wide.budgets.get().spent == Decimal(100)
