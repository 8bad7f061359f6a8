"""Columns that seem to name people are known by their names, or by texts that are written as keys are."""

from __future__ import annotations

import pytest

from dpportal.tables.meaning.identifiers import looks_like_identifier, named_like_identifier, names_a_case
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.meaning.proposals import proposed_columns


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "ID",
        "patient",
        "Patient_ID",
        "PersonNo",
        "person nr",
        "caseId",
        "key",
        "number",
        "pat",
        "PatNr",
        "Kennung",
        "Aktenzeichen",
        "user-id",
        "编号",
        "患者编号",
        "身份证号",
        "学号",
        "手机号码",
        "姓名",
        "会员",
        "序号",
        "Respondent ID",
        "ID Patient",
        "patient code",
        "patient_id_hash",
        "Schüler/in: Nr.",
        "Fall-Nr.",
        "N° d'appel",
        "Numéro de dossier",
        "Numéro d'élève",
        "N° élève",
        "Nº de paciente",
        "Reference",
        "Application reference",
        "id_pacjenta",
        "ID osoby",
    ],
)
def test_names_of_identifiers(name):
    assert named_like_identifier(name)


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "number of rooms",
        "income",
        "idle",
        "path",
        "keyboard",
        "paid",
        "no children",
        "sex",
        "fnlwgt",
        "年龄",
        "性别",
        "会员等级",
        "房间数",
        "省份",
        "member_since",
        "patient_type",
        "patient_age",
        "customer_segment",
        "account_balance",
        "user_rating",
        "key_worker",
        "id_type",
        "id status",
        "number of persons",
        "visit",
        "order",
        "Numéro de rue",
        "N° de personas",
        "Code intervention",
        "reference period",
    ],
)
def test_names_of_other_columns(name):
    assert not named_like_identifier(name)


@pytest.mark.parametrize(
    ("name", "is_case"),
    [
        *(
            (name, True)
            for name in (
                "Fall-Nr.",
                "Fallnummer",
                "caseId",
                "visit_id",
                "Order number",
                "Aktenzeichen",
                "N° d'appel",
            )
        ),
        *((name, True) for name in ("Antragsnummer", "encounter_id_hash", "住院号", "订单编号")),
        *(
            (name, False)
            for name in ("patient_id", "Nr.", "id", "member", "病历号", "stay", "number of visits")
        ),
    ],
)
def test_a_number_of_a_case_is_told_from_a_person_s(name, is_case):
    assert names_a_case(name) == is_case


KEYS = [f"P{number % 50:05d}" for number in range(400)]


@pytest.mark.parametrize(
    ("name", "texts", "found"),
    [
        ("id", [str(i) for i in range(100)], True),
        ("member", ["yes", "no"] * 50, False),
        ("id", ["1", "2"], True),
        ("patient", ["inpatient", "outpatient"] * 3, False),
        ("member_since", [str(1970 + i % 50) for i in range(60)], False),
        ("patient_type", ["in", "out", "day"], False),
        ("who", KEYS, True),
        ("who", [str(10**6 + i % 90) for i in range(400)], True),
        ("who", [str(10**6 + i % 290) for i in range(400)], True),
        ("pat", [f"P-{number % 290:06x}" for number in range(400)], True),
        (
            "who",
            [f"P-{pow(number % 290, 5, 2**24):06x}"[:8] for number in range(10, 410)] + ["P-facade"],
            True,
        ),
        ("colour", [f"#{number % 290:06x}" for number in range(400)], False),
        (
            "street",
            [f"Street{'abcdefghij'[number % 10]}{'klmnopqrst'[number % 9]}" for number in range(400)],
            False,
        ),
        ("insured_no", [str(10**6 + i) for i in range(400)], True),
        ("month", [f"20{20 + i % 5}-{1 + i % 12:02}" for i in range(400)], False),
        ("house_no", [str(i % 90) for i in range(400)], False),
        ("age", [str(i % 90) for i in range(400)], False),
        ("income", [str(7 * i) for i in range(400)], False),
        ("town", [f"Town{'x' * (i % 7)}" for i in range(400)], False),
        ("word", ["north", "south"] * 200, False),
    ],
)
def test_what_looks_like_an_identifier(name, texts, found):
    assert looks_like_identifier(name, texts) == found


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Heure", [f"{i % 24:02}h{i * 7 % 60:02}" for i in range(400)]),
        ("who", [f"{i % 24:02}h{i * 7 % 60:02}" for i in range(400)]),
        ("Code postal", [str(75001 + i % 20) for i in range(400)]),
        ("PLZ", [str(10115 + i % 90) for i in range(400)]),
        ("code_insee", [str(31001 + i % 90) for i in range(400)]),
        ("NUTS3", [f"DE{100 + i % 40}" for i in range(400)]),
        ("seen", [f"2023-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(400)]),
        ("seen", [f"2023{1 + i % 12:02}{1 + i % 28:02}" for i in range(400)]),
        ("seen", [f"2023-W{1 + i % 52:02}" for i in range(400)]),
        ("seen", [f"{2000 + i % 20}-{2001 + i % 20}" for i in range(400)]),
        ("size", [f"{i % 80 + 10}-{i % 80 + 14}" for i in range(400)]),
        ("income", [str(20001 + i % 90) for i in range(400)]),
        ("earned", [str(10000 + i % 90 * 1000) for i in range(400)]),
        ("邮政编码", [str(100001 + i % 90) for i in range(400)]),
    ],
)
def test_what_many_people_share_is_no_identifier(name, texts):
    assert not looks_like_identifier(name, texts)


def test_days_and_amounts_are_no_identifiers():
    days = [f"2020-01-{i % 28 + 1:02d}" for i in range(400)]
    amounts = [f"{i % 60 + 100}.25" for i in range(400)]
    columns = proposed_columns(["seen", "paid", "who"], [days, amounts, KEYS], ReadOptions().settled())
    assert [column.identifies for column in columns] == [False, False, True]


def test_what_a_column_belongs_to_is_not_what_it_holds():
    assert not named_like_identifier("Persons: sex")
    assert named_like_identifier("Register: person_id")
