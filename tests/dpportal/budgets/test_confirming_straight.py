"""From a review to the charge no function is handed down, so that a reader follows the calls one after the other."""

from __future__ import annotations

import inspect

import pytest
from django.http import QueryDict

from dpportal.api import confirmed_by_token
from dpportal.budgets import confirming
from dpportal.publications import confirmation
from dpportal.publications.confirmation import ConfirmForm
from dpportal.value_choices import services


@pytest.mark.parametrize("module", [confirming, confirmation, services, confirmed_by_token])
def test_no_step_takes_a_function(module) -> None:
    here = [
        f for _name, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__
    ]
    assert here and not [f for f in here if "Callable" in str(inspect.signature(f))]


def test_a_refusal_is_shown_and_the_next_answer_is_for_what_this_page_shows() -> None:
    form = ConfirmForm(QueryDict("reviewed=old&agreed=on"), "new")
    with form.taking(ValueError):
        assert form.is_valid() and form.digest_read == "old"
        raise ValueError("Not now.")
    assert not form.is_valid() and form.non_field_errors() == ["Not now."]
    assert form["reviewed"].value() == "new"


def test_another_fault_is_no_refusal() -> None:
    with pytest.raises(KeyError), ConfirmForm(None).taking(ValueError):
        raise KeyError
