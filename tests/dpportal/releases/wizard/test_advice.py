"""Asking for a ranking in the wizard: looked up at once, from public statements alone."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpportal.releases import advice
from dpportal.releases.products import DraftError
from mechanisms.accounting import Definition
from mechanisms.advice import table


def page(client, draft, **question) -> str:
    client.force_login(draft.created_by)
    return client.post(f"/releases/{draft.pk}/method/advice/", question).content.decode()


def test_the_page_ranks_every_method_at_once(draft, client) -> None:
    text = page(client, draft, amount="0.1", purpose="ranges")
    assert "Noisy histogram, Laplace" in text
    assert "Method chosen privately" in text
    assert "hx-trigger" not in text


def test_the_page_says_how_sure_it_is(draft, client) -> None:
    text = page(client, draft, amount="0.1", purpose="totals")
    checked = advice.asked(draft, Decimal("0.1"), "totals").checked
    assert checked in [table.checked(columns, Definition.PURE, "totals") for columns in (1, 2)]
    assert f"on {checked.tables} tables that were drawn afterwards" in text
    assert f"between {checked.low:.2f} and {checked.high:.2f} times" in text
    assert "Your data are never looked at for this." in text


def test_private_cuts_and_clusters_come_last_and_it_is_said_why(draft, client) -> None:
    text = page(client, draft, amount="0.1", purpose="cells")
    assert (
        text.count("Never advised: only for tables whose people are nearly all in a few cells or clouds") == 2
    )
    assert text.rindex("Never advised") > text.rindex("Noisy histogram, Laplace")


def test_the_first_method_is_named_as_advised(draft, client) -> None:
    found = advice.asked(draft, Decimal("0.1"), "cells")
    first = found.titles[found.ranking.methods[0].mechanism]
    assert f"Advised: <strong>{first}</strong>" in page(client, draft, amount="0.1", purpose="cells")


def test_no_record_is_read_for_it(draft, client, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpportal.datasets.rawdata import records

    def read(*_: object) -> None:
        raise AssertionError("the advice read records")

    monkeypatch.setattr(records, "count", read)
    assert "Advised" in page(client, draft, amount="0.1", purpose="cells")


def test_a_draft_without_a_number_of_people_is_asked_for_one(draft) -> None:
    draft.people = None
    with pytest.raises(DraftError, match="estimate of the number of people"):
        advice.asked(draft, Decimal("0.1"), "cells")


def test_a_cost_that_is_no_number_is_said_so(draft, client) -> None:
    assert "Write one plain number" in page(client, draft, amount="0.1+0.2", purpose="cells")
