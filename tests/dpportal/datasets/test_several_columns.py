"""Columns declared at once: alike, by their names, from another dataset, from a codebook."""

from __future__ import annotations

import html
import json

import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dpportal.datasets import services
from dpportal.datasets.proposals import is_contradicted, proposed, proposed_kind
from mechanisms.domain import Boolean, Categorical, Integer
from tests.dpportal import building


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def declared(dataset) -> dict:
    return {a.column: a.declared() for a in dataset.current_domain().attributes.all()}


def marked(dataset) -> set[str]:
    version = dataset.current_domain()
    return {a.column for a in version.attributes.all() if a.filled_from_data}


def chosen(desk, dataset, way, *positions):
    address = reverse("datasets:chosen", args=[dataset.pk])
    return desk.post(address, {"way": way, "columns": positions})


def test_ticked_columns_are_yes_or_no_or_ignored(desk, dataset):
    chosen(desk, dataset, "yes-or-no", 0, 1)
    assert declared(dataset) == {name: Boolean(name, True, closed=True) for name in ("colour", "age")}
    chosen(desk, dataset, "ignored", 0)
    assert declared(dataset) == {"age": Boolean("age", True, closed=True)}


def test_names_say_what_they_can(desk, dataset):
    chosen(desk, dataset, "names", 0, 1)
    found = declared(dataset)
    assert found["age"] == Integer("age", True, lower=0, upper=119, width=5)
    assert found["colour"] == Categorical("colour", values=("red", "green", "blue"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ageGroup", "integer"),
        ("is_smoker", "boolean"),
        ("HAS_CHILDREN", "boolean"),
        ("birth date", "date"),
        ("sex", "categorical"),
        ("stage", ""),
        ("wage", "real"),
        ("monthlySalary", "real"),
        ("Department", "categorical"),
        ("cabbage", ""),
        ("Motif de l'appel", "categorical"),
        ("Délai d'arrivée (min)", "real"),
        ("Coût d'intervention", "real"),
        ("Hospitalisé", "boolean"),
        ("stay_id", ""),
        ("length of stay", "integer"),
        ("", ""),
        ("ÄLTER", ""),
    ],
)
def test_only_whole_words_of_a_name_count(name, kind):
    assert proposed_kind(name) == kind
    assert proposed(name) is None or proposed(name).name == name


def test_columns_are_declared_alike_in_the_form_of_one(desk, dataset):
    answer = chosen(desk, dataset, "alike", 0, 1)
    assert answer.url.endswith("/domain/several/?columns=0&columns=1")
    page = desk.get(answer.url).content.decode()
    assert "2 columns alike" in page
    form = {
        "kind": "categorical",
        "values": "1 = low\n2 = low\n3 = high",
        "with_words": "on",
        "closed": "open",
    }
    assert desk.post(answer.url, form).status_code == 302
    for name in ("colour", "age"):
        assert declared(dataset)[name].labels() == ["low", "high", "Other"]
        assert declared(dataset)[name].values == ("1", "2", "3")


def test_the_mark_goes_to_all_that_are_declared_like_a_filled_column(desk, dataset):
    desk.post(reverse("datasets:fill_column", args=[dataset.pk, 0]), {"public": "on"})
    form = {"kind": "categorical", "values": "red\ngreen", "closed": "open"}
    desk.post(f"{reverse('datasets:several', args=[dataset.pk])}?columns=0&columns=1", form)
    assert marked(dataset) == {"colour", "age"}


def test_the_mark_stays_where_another_column_was_filled(desk, dataset):
    desk.post(reverse("datasets:fill_column", args=[dataset.pk, 0]), {"public": "on"})
    desk.post(f"{reverse('datasets:several', args=[dataset.pk])}?columns=1&columns=0", {"kind": "boolean"})
    assert marked(dataset) == {"colour"}


def test_the_mark_goes_when_a_codebook_replaces_the_values(desk, dataset):
    services.declare(dataset, "colour", Categorical("colour", values=("red",)), filled=True)
    services.declare(dataset, "age", Integer("age", lower=3, upper=4), filled=True)
    file = SimpleUploadedFile("codebook.csv", b"column,value\ncolour,red\ncolour,violet\nsize,9\n")
    answer = desk.post(reverse("datasets:codebook", args=[dataset.pk]), {"codebook": file})
    assert "does not have it: “size”." in str(list(get_messages(answer.wsgi_request))[-1])
    assert marked(dataset) == {"age"}
    services.declare(dataset, "colour", Categorical("colour", values=("violet",)))
    assert marked(dataset) == {"age"}


def test_values_that_share_a_label_are_told(desk, dataset):
    content = b"column,value,label\ncolour,red,warm\ncolour,yellow,warm\ncolour,blue,cold\nsize,1,small\nsize,2,large\n"
    file = SimpleUploadedFile("codebook.csv", content)
    answer = desk.post(reverse("datasets:codebook", args=[dataset.pk]), {"codebook": file})
    told = " ".join(map(str, get_messages(answer.wsgi_request)))
    assert "counted together, as one cell: “colour”." in told


def test_codes_that_a_codebook_calls_missing_are_counted_for_the_curator(desk, dataset):
    content = b"""<codeBook><var name="colour"><catgry><catValu>1</catValu></catgry>
        <catgry missing="Y"><catValu>8</catValu></catgry><catgry missing="Y"><catValu>9</catValu></catgry>
        </var></codeBook>"""
    file = SimpleUploadedFile("study.xml", content)
    answer = desk.post(reverse("datasets:codebook", args=[dataset.pk]), {"codebook": file})
    assert "were left out: colour (2)." in str(list(get_messages(answer.wsgi_request))[-1])


@pytest.mark.parametrize(("singles", "asked"), [([], True), ([0], False)])
def test_a_number_in_bins_is_asked_about_when_it_comes_by_a_codebook(desk, dataset, singles, asked):
    entry = {"kind": "integer", "lower": 0, "upper": 119, "width": 10, "single_values": singles}
    file = SimpleUploadedFile("book.json", json.dumps({"age": entry}).encode())
    answer = desk.post(reverse("datasets:codebook", args=[dataset.pk]), {"codebook": file}, follow=True)
    assert ("Is one value common in “age”, such as 0?" in answer.content.decode()) is asked


def test_labelled_values_of_a_declared_number_get_cells_of_their_own(desk, dataset):
    """Of colour nothing is declared; 2.5 and 500 are no age."""
    services.declare_all(
        dataset, [Integer("age", lower=0, upper=99, width=10, single_values=(5,))], ignored=["colour"]
    )
    said = {"age": {"special_values": ["0", "98", "2.5", "500"]}, "colour": {"special_values": ["1"]}}
    file = SimpleUploadedFile("book.json", json.dumps(said).encode())
    answer = desk.post(reverse("datasets:codebook", args=[dataset.pk]), {"codebook": file}, follow=True)
    assert declared(dataset) == {"age": Integer("age", lower=0, upper=99, width=10, single_values=(0, 5, 98))}
    assert "gives single values of “colour” labels" in answer.content.decode()


def test_spellings_of_a_value_are_counted_as_it_and_a_line_without_a_label_is_its_own(desk, dataset):
    lines = "North\nnorth = North\nSouth\ns = South"
    form = {"kind": "categorical", "values": lines, "with_words": "on", "closed": "open"}
    assert desk.post(reverse("datasets:column", args=[dataset.pk, 0]), form).status_code == 302
    assert declared(dataset)["colour"].labels() == ["North", "South", "Other"]
    page = desk.get(reverse("datasets:column", args=[dataset.pk, 0])).content.decode()
    assert lines in page


def test_lines_of_which_none_has_a_label_declare_values_alone(desk, dataset):
    form = {"kind": "categorical", "values": "low\nhigh", "with_words": "on", "closed": "open"}
    desk.post(reverse("datasets:column", args=[dataset.pk, 0]), form)
    assert declared(dataset)["colour"].words == ()


@pytest.mark.parametrize("values", ["1 = low\n2 =", "= low", "1 = Zürich\n2 = Zu\u0308rich"])
def test_lines_of_which_one_side_is_empty_are_refused_in_words(desk, dataset, values):
    before = declared(dataset)
    address = reverse("datasets:column", args=[dataset.pk, 0])
    form = {"kind": "categorical", "values": values, "with_words": "on", "closed": "open"}
    answer = desk.post(address, form)
    assert answer.status_code == 422
    assert "label" in answer.content.decode()
    assert declared(dataset) == before


def test_the_form_shows_the_lines_again(desk, dataset):
    colours = Categorical("colour", values=("<=5", "g=", "b"), words=("low", "= green", "blue"))
    services.declare(dataset, "colour", colours)
    page = desk.get(reverse("datasets:column", args=[dataset.pk, 0])).content.decode()
    lines = ["<=5 = low", "g= = = green", "b=blue"]
    assert html.escape("\n".join(lines[:2])) in page
    form = {"kind": "categorical", "values": "\n".join(lines), "with_words": "on", "closed": "open"}
    desk.post(reverse("datasets:column", args=[dataset.pk, 0]), form)
    assert declared(dataset)["colour"] == colours


def test_another_dataset_is_copied_with_its_mark(desk, dataset, curator):
    services.declare(dataset, "age", Integer("age", lower=1, upper=9), filled=True)
    other = building.stored_dataset(curator, "Next year")
    desk.post(reverse("datasets:copy_domain", args=[other.pk]), {"source": dataset.pk})
    assert declared(other) == declared(dataset)
    assert other.current_domain().attributes.get(column="age").filled_from_data


def test_nobody_elses_dataset_is_copied(desk, dataset, other_curator):
    theirs = building.stored_dataset(other_curator, "Theirs")
    services.declare(theirs, "colour", Boolean("colour"))
    before = declared(dataset)
    for source in (theirs.pk, "nonsense", ""):
        answer = desk.post(reverse("datasets:copy_domain", args=[dataset.pk]), {"source": source})
        assert "one of your datasets" in str(next(iter(get_messages(answer.wsgi_request))))
    assert declared(dataset) == before


def test_what_is_exported_can_be_imported(desk, dataset, curator):
    services.declare(dataset, "age", Integer("age", lower=1, upper=9), filled=True)
    content = desk.get(reverse("datasets:codebook_export", args=[dataset.pk, "json"])).content
    assert json.loads(content)["age"]["filled_from_data"] is True
    other = building.stored_dataset(curator, "Next year")
    file = SimpleUploadedFile("codebook.json", content)
    desk.post(reverse("datasets:codebook", args=[other.pk]), {"codebook": file})
    assert declared(other) == declared(dataset)
    assert other.current_domain().attributes.get(column="age").filled_from_data


def test_one_refused_column_leaves_all_as_they_were(desk, dataset):
    before = declared(dataset)
    book = {
        "colour": ["red"],
        "age": {"kind": "categorical", "values": ["1"], "closed": True, "misfits_to": 7},
    }
    file = SimpleUploadedFile("codebook.json", json.dumps(book).encode())
    answer = desk.post(reverse("datasets:codebook", args=[dataset.pk]), {"codebook": file})
    assert "misfits" in str(next(iter(get_messages(answer.wsgi_request))))
    assert declared(dataset) == before


@pytest.mark.parametrize("positions", [["9"], ["-1"], ["x"], ["²"]])
def test_columns_that_are_not_there_are_not_found(desk, dataset, positions):
    assert chosen(desk, dataset, "ignored", *positions).status_code == 404


def test_nothing_ticked_changes_nothing(desk, dataset):
    before = declared(dataset)
    chosen(desk, dataset, "ignored")
    desk.get(reverse("datasets:several", args=[dataset.pk]))
    assert declared(dataset) == before


def table(page) -> dict[str, object]:
    """What the table of columns sends when nothing is changed."""
    sent = {}
    for row in page.context["rows"]:
        for field in row.form:
            value = field.value()
            if value is not None and value is not False:
                sent[field.html_name] = "on" if value is True else value
    return sent


def test_columns_are_edited_in_their_places_and_all_or_none_are_saved(desk, dataset):
    address = reverse("datasets:domain", args=[dataset.pk])
    said = table(desk.get(address))
    assert desk.post(address, said).status_code == 302
    before = declared(dataset)
    wrong = {
        **said,
        "c0-kind": "boolean",
        "c0-no": "0 = no colour",
        "c0-yes": "1 = colour",
        "c1-lower": "120",
    }
    answer = desk.post(address, wrong)
    assert answer.status_code == 422
    assert "The lower limit is above the upper limit" in answer.content.decode()
    assert declared(dataset) == before
    right = {
        **wrong,
        "c1-lower": "18",
        "c1-upper": "97",
        "c1-width": "10",
        "c1-missing_cell": "on",
        "next": "fit",
    }
    answer = desk.post(address, right)
    # Posted on: the look begins at once.
    assert (answer.status_code, answer.url) == (307, reverse("datasets:fit", args=[dataset.pk]))
    assert declared(dataset) == {
        "colour": Boolean("colour", False, ("0", "1"), ("no colour", "colour"), closed=True),
        "age": Integer("age", True, lower=18, upper=97, width=10),
    }


def test_what_the_table_does_not_show_stays_as_it_was(desk, dataset):
    colour = Categorical("colour", True, ("1", "2"), True, ("warm", "cold"), closed=True, misfits_to=1)
    age = Integer("age", lower=0, upper=99, edges=(0, 18, 99), single_values=(0,))
    services.declare_all(dataset, [colour, age])
    address = reverse("datasets:domain", args=[dataset.pk])
    said = table(desk.get(address))
    desk.post(address, {**said, "c0-values": "1 = hot\n2 = cold"})
    found = declared(dataset)
    assert found["age"] == age
    assert (found["colour"].words, found["colour"].misfits_to, found["colour"].as_numbers) == (
        ("hot", "cold"),
        1,
        True,
    )


def test_a_suggestion_is_nothing_until_it_is_taken(desk, dataset):
    services.declare_all(dataset, [], ignored=["age"])
    address = reverse("datasets:domain", args=[dataset.pk])
    page = desk.get(address)
    assert "suggested: whole numbers" in page.content.decode()
    desk.post(address, table(page))
    assert "age" not in declared(dataset)
    desk.post(address, table(page) | {"c1-kind": "integer", "c1-single_values": "0"})
    assert declared(dataset)["age"].single_values == (0,)
    services.declare_all(dataset, [], ignored=["age", "colour"])
    # Of a table of which nothing is declared, suggestions are filled in, and saving takes them.
    page = desk.get(address)
    assert declared(dataset) == {}
    desk.post(address, table(page))
    assert declared(dataset) == {"age": Integer("age", True, lower=0, upper=119, width=5)}
    services.declare_all(dataset, [], ignored=["age"])
    answer = chosen(desk, dataset, "names", 0, 1)
    assert declared(dataset) == {"age": Integer("age", True, lower=0, upper=119, width=5)}
    told = " ".join(map(str, get_messages(answer.wsgi_request)))
    assert "Nothing is suggested for “colour”" in told


def test_a_row_has_a_live_picture(desk, dataset):
    address = reverse("datasets:row_cells", args=[dataset.pk, 1])
    sent = {"c1-kind": "integer", "c1-lower": "0", "c1-upper": "9", "c1-width": "5"}
    page = desk.post(address, sent).content.decode()
    assert "2 cells" in page and "Is 0 common?" in page and 'data-field="c1-single_values"' in page
    page = desk.post(address, {**sent, "c1-single_values": "0 3 … 9"}).content.decode()
    assert "8 cells" in page and "common?" not in page
    assert "Lower limit" in desk.post(address, {**sent, "c1-lower": "x"}).content.decode()
    assert declared(dataset)["age"].upper == 99


def test_a_value_may_hold_the_sign_between_values_and_labels(desk, dataset):
    services.declare(dataset, "colour", Categorical("colour", values=("<=50K", ">50K")))
    address = reverse("datasets:domain", args=[dataset.pk])
    said = table(desk.get(address))
    for values in ("<=50K\n>50K", "<=50K\n>50K\n>=90K"):
        desk.post(address, {**said, "c0-values": values})
        assert declared(dataset)["colour"].values == tuple(values.split())
        assert not declared(dataset)["colour"].words


def test_a_name_suggests_no_numbers_for_a_column_of_other_values():
    """As of “age_group” with 0-14 and 65+, or “month” with 2024-07; what nobody looked at contradicts nothing."""
    assert is_contradicted("age_group", {"kind": "text"}) and is_contradicted("month", {"kind": "date"})
    assert not is_contradicted("age", {"kind": "integer"}) and not is_contradicted("age", {})
    assert not is_contradicted("colour", {"kind": "text"})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("年龄", "integer"),
        ("年龄（岁）", "integer"),
        ("年龄组", "categorical"),
        ("出生年份", "integer"),
        ("出生日期", "date"),
        ("性别", "categorical"),
        ("户主性别", "categorical"),
        ("收入", "real"),
        ("家庭年收入_元", "real"),
        ("省份", "categorical"),
        ("婚姻状况", "categorical"),
        ("是否吸烟", "categorical"),
        ("失业率", "real"),
        ("入学年", "integer"),
        ("备注", ""),
        ("编号", ""),
    ],
)
def test_the_last_word_of_a_chinese_name_counts(name, kind):
    assert proposed_kind(name) == kind
    assert proposed(name) is None or proposed(name).name == name


def test_a_chinese_name_has_the_bounds_of_its_english_one():
    assert proposed("年龄") == Integer("年龄", True, lower=0, upper=119, width=5)


def test_a_chinese_question_is_answered_as_the_table_writes_it():
    assert proposed("是否吸烟") == Categorical("是否吸烟", True, values=("否", "是"))
    assert proposed("是否吸烟", ("0", "1")) == Boolean("是否吸烟", True, closed=True, values=("0", "1"))
