"""What a column's name suggests, in the languages of many tables."""

from __future__ import annotations

import pytest

from dpportal.datasets.proposals import BORN, proposed, proposed_kind


@pytest.mark.parametrize(
    "name",
    ["rok_urodzenia", "ROK URODZENIA", "geboortejaar", "anno di nascita", "year of birth", "Födelseår"],
)
def test_a_year_of_birth_has_its_limits_in_several_languages(name):
    attribute = proposed(name)
    assert attribute is not None and (attribute.kind, attribute.lower, attribute.upper) == (
        BORN.kind,
        BORN.lower,
        BORN.upper,
    )


@pytest.mark.parametrize("name", ["płeć", "PŁEĆ", "plec", "geslacht", "kön"])
def test_sex_is_a_column_of_groups_in_several_languages(name):
    assert proposed(name) is None and proposed_kind(name) == "categorical"


@pytest.mark.parametrize("name", ["rok_szkolny", "anno scolastico", "year"])
def test_any_other_year_has_no_limits(name):
    assert proposed(name) is None
