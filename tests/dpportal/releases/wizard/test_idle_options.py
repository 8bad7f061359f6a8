"""Options of a method that change nothing for the chosen columns are sent with the form and asked of nobody."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dpportal.releases.products import PRODUCTS
from dpportal.releases.wizard.choices import _idle
from dpportal.releases.wizard.forms import MethodForm
from mechanisms.domain import Attribute, Categorical, Domain, Integer

SEX = Categorical("sex", values=("f", "m"))
BY_YEAR, BY_DECADE = Integer("age", lower=0, upper=99), Integer("age", lower=0, upper=99, width=10)


@pytest.mark.parametrize(("columns", "idle"), [((SEX,), True), ((BY_YEAR,), True), ((SEX, BY_DECADE), False)])
def test_where_in_a_bin_a_value_lies_is_asked_where_there_are_bins(
    columns: tuple[Attribute, ...], idle: bool
) -> None:
    assert _idle(SimpleNamespace(domain=Domain(columns))) == (["within_bins"] if idle else [])


@pytest.mark.parametrize("idle", [[], ["within_bins"]])
def test_an_idle_option_is_sent_unseen(idle: list[str]) -> None:
    form = MethodForm(mechanisms=PRODUCTS["histogram"].planner.methods)
    [field] = form.parameter_fields("laplace-histogram", idle)
    assert field.is_hidden == bool(idle)
    assert 'value="smooth"' in str(field)
