"""While a curator still types a declaration, what is empty is a hint and no mistake."""

from __future__ import annotations

import pytest
from django.urls import reverse


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def test_what_is_still_empty_is_a_hint_until_it_was_to_be_saved(desk, dataset):
    """Who has chosen a kind alone has made no mistake yet."""
    begun = {"c0-kind": "categorical", "c0-values": "", "c1-kind": "integer", "c1-lower": "x", "c1-upper": ""}
    rows = [desk.post(reverse("datasets:row_cells", args=[dataset.pk, n]), begun).text for n in (0, 1)]
    assert '<li class="hint">Values: Column colour: declare at least one value.</li>' in rows[0]
    assert "<li>Lower limit" in rows[1]
    column = {"kind": "categorical", "values": "", "closed": "open"}
    one = desk.post(reverse("datasets:column_cells", args=[dataset.pk, 0]), column).text
    assert '<li class="hint">' in one
    saved = desk.post(
        reverse("datasets:domain", args=[dataset.pk]), {**begun, "c1-lower": "0", "c1-upper": "9"}
    )
    assert saved.status_code == 422 and '"hint"' not in saved.text
    assert "Values: Column colour: declare at least one value." in saved.text
