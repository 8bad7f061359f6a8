"""Asking for a ranking in the wizard: looked up at once, from public statements alone."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from dpportal.datasets import services
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products.histogram.advice import Advice, advice, recommendations
from mechanisms import registry
from mechanisms.accounting import Definition
from mechanisms.advice import table
from mechanisms.domain import Categorical


def page(client, draft: Release, **question: str) -> str:
    client.force_login(draft.created_by)
    return client.post(f"/releases/{draft.pk}/method/offers/", question).content.decode()


def advised(draft: Release, purpose: str) -> Advice:
    offers = drafts.offers(draft, Decimal("0.1"))
    plans = {
        o.mechanism.name: o.plan
        for o in offers
        if o.plan and not registry.mechanism(o.mechanism.name).unsuited(o.plan)
    }
    assert draft.people is not None
    return advice(plans, purpose, draft.people)  # type: ignore[arg-type]


def recommended(text: str) -> list[str]:
    return re.findall(r'name="use" value="([^"]+)"', text)


def test_the_page_ranks_every_method_at_once(draft, client) -> None:
    text = page(client, draft, amount="0.1", purpose="ranges")
    assert "Noisy histogram, Laplace" in text
    assert "Method chosen privately" in text


@pytest.mark.slow
@pytest.mark.parametrize("purpose", Release.Purpose.values)
def test_few_methods_are_recommended_and_the_simplest_is_one_of_them(draft, client, purpose) -> None:
    names = recommended(page(client, draft, amount="0.1", purpose=purpose))
    assert 1 <= len(names) <= 3 and any(registry.mechanism(name).is_plain for name in names)
    ranked = [line.mechanism for line in advised(draft, purpose).ranking.methods if line.advised]
    assert ranked[0] in names


def test_using_a_recommended_method_leads_past_its_options_to_the_review(client, draft) -> None:
    """Those of another method are on no page yet: they are shown first, with the method chosen."""
    client.force_login(draft.created_by)
    address = f"/releases/{draft.pk}/method/"
    used = {"use": "dawa-histogram", "amount": "0.1", "purpose": "cells"}
    on_the_page = {"mechanism": "laplace-histogram", "parameter-within_bins": "smooth"}
    answer = client.post(address, {**used, **on_the_page})
    assert answer.url == f"{address}#chosen"
    draft.refresh_from_db()
    assert draft.mechanism == "dawa-histogram"
    names = [field.html_name for field in client.get(address).context["parameter_fields"]]
    assert len(names) > 1
    answer = client.post(address, {**used, **dict.fromkeys(names, "")})
    assert answer.url == f"/releases/{draft.pk}/review/"


@pytest.mark.slow
@pytest.mark.parametrize("purpose", ["", "<b>", "everything"])
def test_a_purpose_that_there_is_none_is_as_the_last_one(client, draft, purpose) -> None:
    names = recommended(page(client, draft, amount="0.1", purpose=draft.purpose))
    assert recommended(page(client, draft, amount="0.1", purpose=purpose)) == names


@pytest.mark.slow
@pytest.mark.parametrize("amount", ["0.000001", "999"])
def test_the_smallest_and_the_largest_cost_have_a_page(client, draft, amount) -> None:
    assert "All methods side by side" in page(client, draft, amount=amount, purpose="cells")


@pytest.mark.slow
def test_a_method_that_does_not_exist_cannot_be_used(client, draft) -> None:
    client.force_login(draft.created_by)
    answer = client.post(f"/releases/{draft.pk}/method/", {"use": "guess", "amount": "0.1"})
    assert answer.status_code == 422 and "Choose one of the methods shown." in answer.content.decode()


@pytest.mark.slow
def test_methods_that_are_not_made_for_the_columns_stand_apart_with_the_reason(client, draft) -> None:
    draft.columns = ["colour"]
    draft.save()
    text = page(client, draft, amount="0.1", purpose="cells")
    apart = text[text.index("Not suitable here") :]
    assert "tells nothing of colour, whose values have no order" in apart
    assert "PrivTree" in apart and "PrivTree" not in text[: text.index("Not suitable here")]


def test_the_page_says_how_sure_it_is(draft, client) -> None:
    text = page(client, draft, amount="0.1", purpose="totals")
    checked = advised(draft, "totals").checked
    assert checked in [table.checked(columns, Definition.PURE, "totals") for columns in (1, 2)]
    assert f"on {checked.tables} tables that were drawn afterwards" in text
    assert f"between {checked.low:.2f} and {checked.high:.2f} times" in text
    assert "Your data are never looked at for this." in text


@pytest.mark.slow
def test_private_cuts_and_clusters_come_last_and_it_is_said_why(draft, client) -> None:
    services.declare(draft.dataset, "colour", Categorical("colour", values=("red", "green")))
    text = page(client, draft, amount="0.1", purpose="cells")
    assert (
        text.count("Never advised: only for tables whose people are nearly all in a few cells or clouds") == 2
    )
    ranked = text[text.index('id="advice"') :]
    assert ranked.rindex("Never advised") > ranked.rindex("Noisy histogram, Laplace")


def test_the_first_method_is_named_as_advised(draft, client) -> None:
    found = advised(draft, "cells")
    first = found.titles[found.ranking.methods[0].mechanism]
    assert f"Least error expected: <strong>{first}</strong>" in page(
        client, draft, amount="0.1", purpose="cells"
    )


def test_no_record_is_read_for_it(draft, client, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpportal.datasets import records

    def read(*_: object) -> None:
        raise AssertionError("the advice read records")

    monkeypatch.setattr(records, "count", read)
    assert "Least error expected" in page(client, draft, amount="0.1", purpose="cells")


def test_a_cost_that_is_no_number_is_said_so(draft, client) -> None:
    text = page(client, draft, amount="0.1+0.2", purpose="cells", mechanism="dawa-histogram")
    assert "Write one plain number" in text and "What follows is at ε = 0.10" in " ".join(text.split())
    assert re.search(r'value="dawa-histogram"\s+checked', text)


@pytest.mark.slow
@pytest.mark.parametrize("purpose", Release.Purpose.values)
def test_cards_and_ranking_have_one_order_and_one_best_method(draft, client, purpose) -> None:
    text = page(client, draft, amount="0.1", purpose=purpose)
    first = re.search("Least error expected: <strong>(.+?)</strong>", text)
    cards = text[text.index('id="recommended"') : text.index('id="all-methods"')]
    ranked = re.findall('<th scope="row">([^<]+?)(?: ≈)?</th>', text[text.index('id="advice"') :])
    names = re.findall("<h3>([^<]+)</h3>", cards)
    assert first and cards.count("no method did better on average") <= 1
    if "no method did better on average" in cards:
        assert cards.index(first[1]) < cards.index("no method did better on average")
    early = ["none is expected to be much better" in card for card in cards.split("<h3>")[1:]]
    places = [ranked.index(name) for name in names]
    assert early == sorted(early, reverse=True)
    assert places[sum(early) :] == sorted(places[sum(early) :])


@pytest.mark.parametrize("purpose", Release.Purpose.values)
def test_how_far_the_best_method_is_from_each_tables_own_best_is_said_in_one_sentence(draft, purpose) -> None:
    """The average of the best is above 1: another method is the best on some tables."""
    draft.people = 300
    offers = {o.mechanism.name: o.plan for o in drafts.offers(draft, Decimal("0.1")) if o.plan}
    found = advised(draft, purpose)
    cards = {card.mechanism: card.why for card in recommendations(found, offers)}  # type: ignore[arg-type]
    best = found.ranking.methods[0]
    said = f"no method did better on average: its error was {100 * (best.ratio - 1):.0f} % above that of whichever"
    assert said in cards[best.mechanism]
    assert " times that of the best" not in "".join(cards.values())
