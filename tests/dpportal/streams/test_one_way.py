"""Pages of a running count lead one way: one first action, a margin in place of an error, nothing that is not there."""

from __future__ import annotations

import re

import numpy as np
from django.test import Client

from dpportal.streams import drafts, services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period
from mechanisms import registry
from tests.dpportal.building import stored_dataset as without_budget
from tests.dpportal.streams import building


def words(page: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", page).replace("\u00a0", " ").split())


def test_while_periods_can_be_added_that_is_the_first_action(curious, stream) -> None:
    page = curious.get(f"/streams/{stream.pk}/home/").text
    head = page.partition('id="live"')[0]
    assert "Publish" in words(head) and not re.search(r'class="button[^"]*\bprimary\b', head)
    assert re.search(r'class="button primary">\s*Add period 1', page)
    services.close(stream, stream.created_by)
    head = curious.get(f"/streams/{stream.pk}/home/").text.partition('id="live"')[0]
    assert re.search(r'class="button[^"]*\bprimary\b', head)


def test_the_review_has_the_margin_at_the_end(curious, dataset) -> None:
    draft = building.draft_stream(dataset)
    _version, plan = drafts.plan_of(draft)
    margin = int(registry.stream(plan.mechanism).half_widths(plan, np.array([12]))[0])
    page = words(curious.get(f"/streams/{draft.pk}/review/").text)
    assert f"Margin of the running count (95 %), at the end ± {margin}" in page
    assert "Standard error" not in page and "just the next period; 12 periods" in page


def test_adjusted_counts_are_said_to_be_where_they_are(stream) -> None:
    publish(stream.pk, [Update(1, (10,), Period.Source.TYPED)], noise=building.repeated_noise())
    services.publish(stream, stream.created_by)
    page = words(Client().get(stream.get_absolute_url()).text)
    assert "The files have adjusted counts, too, which never fall" in page


def test_where_the_cost_is_asked_for_it_has_its_symbol_and_a_reason_is_proposed(curious, curator) -> None:
    """As the review of a release has both."""
    dataset = without_budget(curator)
    draft = building.draft_stream(dataset, name="Flu cases so far")
    page = words(curious.get(f"/streams/{draft.pk}/review/").text)
    assert "To publish: Flu cases so far" in page and "Cost ε 0.5" in page
