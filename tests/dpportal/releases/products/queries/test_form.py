"""The question of the product for queries: every kind, every refusal, and what is shown while it is chosen."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError
from dpportal.releases.products.queries import matrices
from mechanisms.domain import Categorical, Domain, Integer
from tests.dpportal import building

COLOUR = Categorical("colour", values=("red", "green", "blue"))
AGE = Integer("age", lower=0, upper=99, width=10)


@pytest.fixture
def draft(dataset: Dataset) -> Release:
    return Release.objects.create(dataset=dataset, created_by=dataset.owner, product="queries")


@pytest.fixture
def curators(client: Client, dataset: Dataset) -> Client:
    client.force_login(dataset.owner)
    return client


def chosen(client: Client, draft: Release, **answer: object) -> tuple[str, Release]:
    """The page after an answer, and the draft as it is now."""
    response = client.post(f"/releases/{draft.pk}/columns/", answer)
    draft.refresh_from_db()
    return response.content.decode(), draft


def thousands(dataset: Dataset, cells: int = 1_000) -> list[str]:
    """Three columns of 1,000 cells each instead of the dataset's own."""
    wide = [Integer(f"n{i}", lower=0, upper=cells - 1) for i in range(3)]
    dataset.columns = [{"name": a.name, "kind": "integer", "remark": ""} for a in wide]
    dataset.save()
    dataset.domain_versions.all().delete()
    dataset_services.declare_all(dataset, wide)
    return [a.name for a in wide]


def table(rows: np.ndarray) -> SimpleUploadedFile:
    lines = "\n".join(",".join(map(str, row)) for row in rows)
    return SimpleUploadedFile("w.csv", lines.encode())


@pytest.mark.parametrize(
    ("answer", "columns", "text"),
    [
        ({"kind": "ranges", "column": "age"}, ["age"], 'ranges("age")'),
        ({"kind": "prefix", "column": "age"}, ["age"], 'prefix("age")'),
        ({"kind": "width", "column": "age", "width": 3}, ["age"], 'width(3, "age")'),
        (
            {"kind": "marginals", "columns": ["age", "colour"], "ways": 2},
            ["colour", "age"],
            "marginals(<=2)",
        ),
        (
            {"kind": "tables", "tables": "age, colour\n\n colour \n"},
            ["colour", "age"],
            'marginal("age", "colour") + marginal("colour")',
        ),
        (
            {"kind": "product", "ask-0": "identity", "ask-1": "prefix"},
            ["colour", "age"],
            'identity("colour") x prefix("age")',
        ),
        ({"kind": "product", "ask-1": "ranges"}, ["age"], 'ranges("age")'),
        (
            {"kind": "text", "columns": ["age"], "text": ' 2*total+prefix( "age" )'},
            ["age"],
            '2 * total + prefix("age")',
        ),
    ],
)
def test_every_kind_becomes_its_text_form(curators, draft, answer, columns, text) -> None:
    _page, saved = chosen(curators, draft, **answer)
    assert (saved.columns, saved.parameters["workload"]) == (columns, text)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"kind": ""}, "This field is required"),
        ({"kind": "ranges"}, "Choose a column."),
        ({"kind": "ranges", "column": "colour"}, "colour has no order, so it has no ranges"),
        ({"kind": "ranges", "column": "income"}, "Select a valid choice"),
        ({"kind": "width", "column": "age", "width": 11}, "ranges of 11 cells"),
        ({"kind": "width", "column": "age", "width": 0}, "greater than or equal to 1"),
        ({"kind": "marginals", "ways": 2}, "Tick at least one column."),
        ({"kind": "marginals", "columns": ["age"], "ways": 2}, "A table of 2 columns needs as many ticked"),
        ({"kind": "marginals", "columns": ["age"], "ways": 99}, "less than or equal to 8"),
        ({"kind": "tables", "tables": " \n"}, "Name at least one table"),
        ({"kind": "tables", "tables": "age, income"}, "There is no declared column income"),
        ({"kind": "tables", "tables": "age, age"}, "named twice"),
        ({"kind": "product"}, "Ask something of at least one column."),
        ({"kind": "product", "ask-0": "prefix"}, "Select a valid choice"),
        ({"kind": "uploaded", "columns": ["age"]}, "Choose a file with the matrix."),
        ({"kind": "text", "columns": ["age"]}, "Write the workload"),
        ({"kind": "text", "text": "total"}, "Tick at least one column."),
        ({"kind": "text", "columns": ["age"], "text": 'prefix("colour")'}, "not among the chosen columns"),
        ({"kind": "text", "columns": ["age"], "text": "everything"}, "cannot be read at character 1"),
        (
            {"kind": "text", "columns": ["age"], "text": f'uploaded("{"0" * 64}")'},
            "The uploaded matrix is not here any more",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_and_nothing_spent(curators, draft, answer, message) -> None:
    page, saved = chosen(curators, draft, **answer)
    assert message in page
    assert saved.parameters == {} and saved.dataset.budgets.get().reserved == 0


def test_a_workload_over_a_column_that_is_ignored_now_is_refused(curators, draft) -> None:
    chosen(curators, draft, kind="ranges", column="age")
    draft.dataset.domain_versions.all().delete()
    dataset_services.declare_all(draft.dataset, [COLOUR])
    page = curators.get(f"/releases/{draft.pk}/method/").content.decode()
    assert "is not declared any more. Choose the columns again." in page


def test_an_uploaded_matrix_is_kept_by_its_digest(curators, draft) -> None:
    _page, saved = chosen(curators, draft, kind="uploaded", columns=["age"], matrix=table(np.eye(10)))
    digest = saved.parameters["asked"]["digest"]
    assert saved.parameters["workload"] == f'uploaded("{digest}")'
    np.testing.assert_array_equal(matrices.load(digest).rows.toarray(), np.eye(10))


def test_an_uploaded_matrix_need_not_be_uploaded_again(curators, draft) -> None:
    chosen(curators, draft, kind="uploaded", columns=["age"], matrix=table(np.eye(10)))
    before = draft.parameters["workload"]
    _page, saved = chosen(curators, draft, kind="uploaded", columns=["age"])
    assert saved.parameters["workload"] == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "This file is empty"),
        (b"1,2,3\n", "Line 1 has 3 entries; the chosen columns make 10 cells"),
        (b"1,0,0,0,0,0,0,0,0,nan\n", "NaN or infinity"),
        (b"0,0,0,0,0,0,0,0,0,0\n", "Query 1 asks for nothing"),
        (b"1,0,0,0,0,0,0,0,0,one\n", "is not a number"),
    ],
)
def test_a_bad_matrix_is_refused_beside_its_field(curators, draft, content, message) -> None:
    file = SimpleUploadedFile("w.csv", content)
    page, saved = chosen(curators, draft, kind="uploaded", columns=["age"], matrix=file)
    assert message in page and saved.parameters == {}


@pytest.mark.slow
def test_a_sparse_matrix_of_a_thousand_million_entries_is_refused(curators, draft) -> None:
    file = io.BytesIO()
    scipy.sparse.save_npz(file, scipy.sparse.csr_array((10**8, 10)))
    upload = SimpleUploadedFile("w.npz", file.getvalue())
    page, saved = chosen(curators, draft, kind="uploaded", columns=["age"], matrix=upload)
    assert "at most 100,000 can be answered" in page and saved.parameters == {}


def test_a_matrix_over_too_many_cells_is_refused_before_it_is_read(curators, draft) -> None:
    names = thousands(draft.dataset)
    page, _saved = chosen(curators, draft, kind="uploaded", columns=names, matrix=table(np.eye(2)))
    assert "1,000,000,000 cells; a matrix can have at most 1,000,000" in page


def test_more_cells_than_memory_allows_are_refused_with_their_number(curators, draft) -> None:
    thousands(draft.dataset)
    chosen(curators, draft, kind="text", columns=["n0", "n1", "n2"], text='prefix("n0") + prefix("n2")')
    page = curators.get(f"/releases/{draft.pk}/method/").content.decode()
    assert "The chosen columns have 1,000,000,000 cells" in page and draft.dataset.budgets.get().reserved == 0


def test_tables_of_few_columns_are_planned_whatever_the_number_of_cells(
    client, curator, administrator
) -> None:
    dataset = building.granted(building.stored_dataset(curator), administrator, "1", "zcdp")
    draft = Release.objects.create(dataset=dataset, created_by=curator, product="queries")
    client.force_login(curator)
    chosen(client, draft, kind="marginals", columns=thousands(dataset), ways=1)
    page = client.get(f"/releases/{draft.pk}/method/").content.decode()
    assert page.index("ResidualPlanner") < page.index("Not suitable here, and why")


def test_no_page_waits_for_tables_to_be_reconciled_over_many_cells(curators, draft) -> None:
    """100 × 100 cells: the tables themselves are not worked out as a strategy, weighted tables are."""
    names = thousands(draft.dataset, 100)[:2]
    chosen(curators, draft, kind="marginals", columns=names, ways=1)
    page = curators.get(f"/releases/{draft.pk}/method/").content.decode()
    assert "a method made for tables is never worse" in page
    assert "weighted marginals" in page


def test_a_strategy_of_ones_own_is_kept_while_the_cells_are_the_same(curators, draft) -> None:
    strategy = table(np.tri(10))
    _page, saved = chosen(curators, draft, kind="ranges", column="age", strategy=strategy)
    digest = saved.parameters["strategy"]
    np.testing.assert_array_equal(matrices.load(digest).rows.toarray(), np.tri(10))
    assert chosen(curators, draft, kind="prefix", column="age")[1].parameters["strategy"] == digest
    assert (
        chosen(curators, draft, kind="marginals", columns=["colour"], ways=1)[1].parameters["strategy"] == ""
    )


def test_a_strategy_of_too_many_rows_is_refused(curators, draft) -> None:
    file = io.BytesIO()
    scipy.sparse.save_npz(file, scipy.sparse.csr_array(np.ones((9_000, 10))))
    upload = SimpleUploadedFile("a.npz", file.getvalue())
    page, _saved = chosen(curators, draft, kind="ranges", column="age", strategy=upload)
    assert "can have at most 8,192 rows" in page


def test_a_strategy_of_the_wrong_width_is_refused(curators, draft) -> None:
    page, _saved = chosen(curators, draft, kind="ranges", column="age", strategy=table(np.eye(3)))
    assert "Line 1 has 3 entries" in page


def test_a_strategy_that_cannot_answer_is_said_so_with_the_rank_it_lacks(curators, draft) -> None:
    chosen(curators, draft, kind="ranges", column="age", strategy=table(np.eye(10)[:7]))
    page = curators.get(f"/releases/{draft.pk}/method/").content.decode()
    assert "answers only 7 of the 10 dimensions" in page


def test_the_dial_moves_where_some_strategy_cannot_be_used(client, curator, administrator) -> None:
    dataset = building.granted(building.stored_dataset(curator), administrator, "1", "zcdp")
    draft = Release.objects.create(dataset=dataset, created_by=curator, product="queries")
    client.force_login(curator)
    chosen(client, draft, kind="marginals", columns=thousands(dataset), ways=1)
    moved = client.get(f"/releases/{draft.pk}/method/dial/", {"epsilon": "0.2", "mechanism": "automatic"})
    found = moved.json()
    assert found["amount"] == "0.20" and found["half_width"] > 0


def test_sums_of_more_people_than_64_bits_hold_are_refused(dataset) -> None:
    """A sum of up to 2^16 · 2^16 a person wraps from 2^31 people on; tables of whole rows never do."""
    draft = Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        product="queries",
        columns=["colour", "age"],
        people=10**10,
        amount=1,
        mechanism="haar-strategy",
        parameters={"workload": 'prefix("colour") x prefix("age")'},
    )
    with pytest.raises(DraftError, match="do not fit 64-bit numbers"):
        drafts.plan_of(draft)
    draft.people = 10**8
    drafts.plan_of(draft)
    draft.people, draft.mechanism = 10**10, "identity-strategy"
    drafts.plan_of(draft)


class TestLive:
    def live(self, client: Client, draft: Release, **answer: object) -> str:
        response = client.post(f"/releases/{draft.pk}/columns/workload/", answer)
        assert response.status_code == 200
        return response.content.decode()

    def test_the_size_the_first_queries_and_the_text_are_shown(self, curators, draft) -> None:
        page = self.live(curators, draft, kind="ranges", column="age")
        assert ">55<" in page and "age 0–19" in page and "ranges(&quot;age&quot;)" in page

    def test_a_refusal_is_shown(self, curators, draft) -> None:
        assert "colour has no order" in self.live(curators, draft, kind="ranges", column="colour")

    def test_nothing_is_saved(self, curators, draft) -> None:
        self.live(curators, draft, kind="ranges", column="age")
        draft.refresh_from_db()
        assert draft.parameters == {}

    def test_only_its_curator_may_ask(self, client, draft, other_curator) -> None:
        client.force_login(other_curator)
        answer = {"kind": "ranges", "column": "age"}
        assert client.post(f"/releases/{draft.pk}/columns/workload/", answer).status_code == 404


def test_a_column_with_an_order_is_proposed(curators, draft) -> None:
    """Of colours, the first column, there are no ranges."""
    page = curators.get(f"/releases/{draft.pk}/columns/").content.decode()
    assert '<option value="age" selected>' in page and "has no order" not in page


def test_what_was_chosen_is_shown_again(curators, draft) -> None:
    chosen(curators, draft, kind="width", column="age", width=4)
    page = curators.get(f"/releases/{draft.pk}/columns/").content.decode()
    assert 'value="width" checked' in page and 'name="width" value="4"' in page


@pytest.mark.parametrize("columns", [["colour"], ["age"], ["colour", "age"]])
def test_the_template_is_a_matrix_that_can_be_uploaded(curators, draft, columns):
    """As it is, it asks for everybody; its header names the cells in the order of the matrix."""
    content = curators.get(f"/releases/{draft.pk}/columns/queries.csv", {"columns": columns}).content
    domain = Domain((COLOUR, AGE)).project(columns)
    read = matrices.read(io.BytesIO(content), "queries.csv", domain.size, [])
    assert read.rows.toarray().tolist() == [[1.0] * domain.size]
    header = content.decode().splitlines()[0].split(",")[1:]
    places = [np.unravel_index(cell, domain.shape) for cell in range(domain.size)]
    assert header == [
        " · ".join(a.labels()[i] for a, i in zip(domain.attributes, place, strict=True)) for place in places
    ]
    answer = {"kind": "uploaded", "columns": columns, "matrix": SimpleUploadedFile("queries.csv", content)}
    _page, changed = chosen(curators, draft, **answer)
    assert changed.columns == columns


@pytest.mark.parametrize("columns", [["age"], ["colour", "age"]])
def test_a_template_whose_columns_were_moved_is_refused(curators, draft, columns):
    """What it asks would be answered by other cells than it names."""
    address = f"/releases/{draft.pk}/columns/queries.csv"
    names, entries = curators.get(address, {"columns": columns}).content.decode().splitlines()
    query, first, second, *others = names.split(",")
    moved = "\n".join([",".join([query, second, first, *others]), entries])
    file = SimpleUploadedFile("queries.csv", moved.encode())
    page, saved = chosen(curators, draft, kind="uploaded", columns=columns, matrix=file)
    assert "names the cells in another order" in page and saved.parameters == {}


def test_a_template_needs_columns(curators, draft):
    for columns in ([], ["nowhere"]):
        address = f"/releases/{draft.pk}/columns/queries.csv"
        assert curators.get(address, {"columns": columns}).url == f"/releases/{draft.pk}/columns/"


def test_columns_have_their_names_for_readers(curators, draft) -> None:
    """In all choices, in the first queries and in refusals; a table may be asked for by either name."""
    titled = [replace(COLOUR, title="Favourite colour"), replace(AGE, title="Age in years")]
    dataset_services.declare_all(draft.dataset, titled)
    page = curators.get(f"/releases/{draft.pk}/columns/").text
    assert page.count("Favourite colour") >= 3 and page.count("Age in years") >= 3
    assert ">age<" not in page and ">colour<" not in page
    asked = {"kind": "tables", "tables": "Age in years, colour"}
    shown = curators.post(f"/releases/{draft.pk}/columns/workload/", asked).text
    assert "Favourite colour = red, Age in years 0–9" in shown
    assert chosen(curators, draft, **asked)[1].columns == ["colour", "age"]
    refused, _saved = chosen(curators, draft, kind="ranges", column="colour")
    assert "Favourite colour has no order" in refused
    unknown, _saved = chosen(curators, draft, kind="tables", tables="sex")
    assert "Choose among: Favourite colour, Age in years." in unknown
