"""While methods are worked out, the page says to wait, and to go on only where there is something to choose."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

from django.core.exceptions import ValidationError
from django.template.loader import render_to_string

from dpportal.platform.form_data import form_data
from dpportal.releases.wizard.forms import AWAITED, MethodForm
from mechanisms import registry


def shown(template: str, **context) -> str:
    return " ".join(render_to_string(template, context).split())


def test_only_where_a_method_has_figures_one_can_go_on() -> None:
    searches = SimpleNamespace(awaited=["a"], awaited_query="key=a", waits_in_vain=False)
    alone = shown("_search_progress.html", searches=searches)
    assert "There is nothing to choose from before that" in alone and "go on" not in alone
    ready = shown("_search_progress.html", searches=searches, is_ready=True)
    assert "You can wait, or go on with what is there." in ready and "?key=a&amp;ready" in ready


def test_searches_for_these_queries_can_be_gone_on_without_only_where_there_is_another_method() -> None:
    searches = [{"title": "Prefix", "percent": None}]
    release = SimpleNamespace(pk="11111111-1111-1111-1111-111111111111")
    template = "releases/queries/_searches.html"
    assert "you can go on" not in shown(template, release=release, searches=searches)
    assert "you can go on without them" in shown(template, release=release, searches=searches, is_ready=True)


def test_a_method_that_is_worked_out_is_nothing_that_has_to_be_changed() -> None:
    form = MethodForm(
        form_data({"mechanism": "automatic", "amount": "1"}), mechanisms=registry.QUERIES, automatic=True
    )
    assert form.is_valid() and not form.is_awaited
    form.add_error("mechanism", ValidationError("It is being worked out.", AWAITED))
    assert form.is_awaited
    form.add_error("amount", "Too much.")
    assert not form.is_awaited


def test_seconds_are_counted_as_they_are_written() -> None:
    job = SimpleNamespace(elapsed=timedelta(seconds=0.7), active=True, is_done=False)
    release = SimpleNamespace(pk="11111111-1111-1111-1111-111111111111")
    assert "Requested 1 second ago." in shown("releases/_job.html", job=job, release=release)
