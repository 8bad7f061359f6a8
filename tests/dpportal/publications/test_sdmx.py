"""Observations as statistical offices exchange them: by the field guide of SDMX-CSV 2.0.0."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pysdmx.io import read_sdmx

from dpportal.publications import sdmx
from dpportal.publications.table import Table
from mechanisms.summary.statistics import EMPTY_FIELDS
from mechanisms.tabular.sdmx import Observed

PREPARED = datetime(2026, 1, 31, 12, tzinfo=UTC)
COUNT = Observed("noisy_count", "lower", "upper", "error")


def table(folder: Path, text: str, **said) -> Table:
    path = folder / "counts.csv"
    path.write_text(text, encoding="utf-8")
    fields = [{"name": name, "type": "string"} for name in text.splitlines()[0].split(",")]
    return Table(path, "Counts", fields, **said)


def observations(of: Table) -> pd.DataFrame:
    file = sdmx.with_observations([of], "release-1", PREPARED)[0]
    assert file.name == "counts.sdmx.csv"
    return pd.read_csv(file.path, dtype=str, keep_default_na=False)


def test_each_cell_is_an_observation(tmp_path):
    text = 'colour,größe,noisy_count,count,error,lower,upper\n"red, or so",L,3,2,1.5,0,6\n,M,-1,0,1.5,-4,2\n'
    frame = observations(table(tmp_path, text, observed=[COUNT], aside=["count"]))
    assert list(frame.columns) == [
        "STRUCTURE", "STRUCTURE_ID", "ACTION", "COLOUR", "DIMENSION_2",
        "OBS_VALUE", "LOWER_BOUND", "UPPER_BOUND", "STANDARD_ERROR",
    ]  # fmt: skip
    assert frame["OBS_VALUE"].tolist() == ["3", "-1"] and frame["COLOUR"].tolist() == ["red, or so", "_U"]
    assert set(frame["STRUCTURE"]) == {"dataflow"} and set(frame["ACTION"]) == {"I"}
    assert re.fullmatch(r"[A-Z]+:[A-Z][A-Z0-9_]*\([0-9.]+\)", frame["STRUCTURE_ID"][0])


def test_several_statistics_stand_below_each_other(tmp_path):
    both = [
        Observed("n", "n_low", "n_up", statistic="number"),
        Observed("t", "t_low", "t_up", statistic="total"),
    ]
    frame = observations(table(tmp_path, "group,n,n_low,n_up,t,t_low,t_up\na,1,0,2,10,9,11\n", observed=both))
    assert frame["STATISTIC"].tolist() == ["NUMBER", "TOTAL"] and frame["OBS_VALUE"].tolist() == ["1", "10"]


@pytest.mark.parametrize("begins, name", [("2020-03", "TIME_PERIOD"), ("Period 1", "BEGINS")])
def test_times_are_called_so_where_they_are_written_so(tmp_path, begins, name):
    frame = observations(
        table(tmp_path, f"begins,noisy_count,lower,upper,error\n{begins},1,0,2,1\n", observed=[COUNT])
    )
    assert frame[name].tolist() == [begins]


def test_more_than_a_spreadsheet_holds_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(sdmx, "MOST_LINES", 2)
    of = table(tmp_path, "a,noisy_count,lower,upper,error\nx,1,0,2,1\ny,1,0,2,1\n", observed=[COUNT])
    assert sdmx.with_observations([of], "release-1", PREPARED) == [] and len(list(tmp_path.iterdir())) == 1


def test_columns_whose_identifiers_would_be_the_same_are_all_there(tmp_path):
    text = "a-b,a.b,OBS_VALUE,noisy_count,error,lower,upper\n1,2,3,4,1,2,6\n"
    frame = observations(table(tmp_path, text, observed=[COUNT]))
    assert list(frame.columns)[3:] == [
        "A_B", "A_B_2", "OBS_VALUE_3", "OBS_VALUE", "LOWER_BOUND", "UPPER_BOUND", "STANDARD_ERROR",
    ]  # fmt: skip
    assert frame.iloc[0, 3:7].tolist() == ["1", "2", "3", "4"]


def structure(of: Table) -> tuple[Any, list[str]]:
    """The data structure as pysdmx reads it, once its own copy of the standard's schema has let it pass."""
    files = sdmx.with_observations([of], "release-1", PREPARED)
    assert [file.name for file in files] == ["counts.sdmx.csv", "counts.sdmx.json"]
    message = read_sdmx(files[1].path, validate=True)
    [flow], [definition] = message.get_dataflows(), message.get_data_structure_definitions()
    lines = pd.read_csv(files[0].path, dtype=str, keep_default_na=False)
    assert {f"DPPORTAL:{flow.id}({flow.version})"} == set(lines["STRUCTURE_ID"])
    return definition, list(lines.columns)[3:]


def test_the_structure_names_every_column_and_code_and_fits_the_standard_s_schema(tmp_path):
    text = 'colour,age,begins,noisy_count,error,lower,upper\nred,"0, 1",2020-03,3,1.5,0,6\nblue,2,2020-04,1,1,0,2\n'
    definition, columns = structure(table(tmp_path, text, observed=[COUNT]))
    assert [part.id for part in definition.components] == [
        "COLOUR", "AGE", "TIME_PERIOD", "OBS_VALUE", "LOWER_BOUND", "UPPER_BOUND", "STANDARD_ERROR",
    ]  # fmt: skip
    assert sorted(columns) == sorted(part.id for part in definition.components)
    colour, age = definition.components["COLOUR"], definition.components["AGE"]
    assert [code.id for code in colour.local_codes.items] == ["red", "blue"]
    assert age.local_codes is None  # “0, 1” can be no code


def test_codes_are_listed_only_where_each_value_is_one(tmp_path, monkeypatch):
    text = 'colour,size,noisy_count,error,lower,upper\nred,"2, 3",3,1,0,6\nblue,M,1,1,0,2\n'
    definition, _columns = structure(table(tmp_path, text, observed=[COUNT]))
    assert definition.components["SIZE"].local_codes is None
    monkeypatch.setattr(sdmx, "MOST_CODES", 1)
    definition, _columns = structure(table(tmp_path, text, observed=[COUNT]))
    assert definition.components["COLOUR"].local_codes is None


def test_statistics_are_a_dimension_with_codes(tmp_path):
    both = [Observed("n", "nl", "nu", statistic="number"), Observed("t", "tl", "tu", statistic="total")]
    definition, _columns = structure(
        table(tmp_path, "group,n,nl,nu,t,tl,tu\na,1,0,2,10,9,11\n", observed=both)
    )
    assert [code.id for code in definition.components["STATISTIC"].local_codes.items] == ["NUMBER", "TOTAL"]


def test_a_missing_value_has_a_code_with_a_name_which_no_value_has(tmp_path):
    text = "colour,size,noisy_count,error,lower,upper\nred,,3,1,0,6\n,_U,1,1,0,2\n"
    of = table(tmp_path, text, observed=[COUNT])
    frame = observations(of)
    assert frame["COLOUR"].tolist() == ["red", "_U"] and frame["SIZE"].tolist() == ["__U", "_U"]
    definition, _columns = structure(of)
    codes = {name: definition.components[name].local_codes.items for name in ("COLOUR", "SIZE")}
    assert [(code.id, code.name) for code in codes["COLOUR"]] == [("red", "red"), ("_U", "Unknown")]
    assert [(code.id, code.name) for code in codes["SIZE"]] == [("_U", "_U"), ("__U", "Unknown")]


def test_an_empty_field_says_by_its_line_whether_it_is_all_or_missing(tmp_path):
    text = "whose,group,noisy_count,error,lower,upper\ngroup,a,3,1,0,6\ngroup,,1,1,0,2\neverybody,,4,1,0,2\n"
    of = table(tmp_path, text, observed=[COUNT], empty={"group": EMPTY_FIELDS["group"]})
    assert observations(of)["GROUP"].tolist() == ["a", "_U", "_T"]
    definition, _columns = structure(of)
    codes = definition.components["GROUP"].local_codes.items
    assert [(code.id, code.name) for code in codes] == [("a", "a"), ("_U", "Unknown"), ("_T", "Total")]
