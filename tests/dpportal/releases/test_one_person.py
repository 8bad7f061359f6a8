"""One is called a person, or a row, wherever a number stands before the word."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from django.utils.translation import override

from dpportal.budgets.margins import margin_shown, margin_text
from dpportal.charts.counted_word import counted_word, of_number
from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.continual.stream import _explanation
from mechanisms.verify.sentences import PHRASES


@pytest.mark.parametrize(("rows", "one", "several"), [(1, "person", "people"), (3, "row", "rows")])
def test_the_word_is_that_of_the_number(rows, one, several):
    words = [of_number(counted_word(rows), number) for number in (1, "1", 0, 2, "1,000", "1.0")]
    assert words == [one, one, *[several] * 4]


def test_the_margin_of_a_request_is_one_person_in_each_language():
    stored = margin_text(what="Margin of a count", sign="±", error="1", unit="people")
    assert stored == "Margin of a count: ± 1 person" == margin_shown(stored)
    assert margin_text(what="Margin of a count", sign="±", error="1.5", unit="people").endswith("1.5 people")
    with override("zh-hans"):
        assert "person" not in margin_shown(stored) and "1" in margin_shown(stored)


@pytest.mark.parametrize(("people", "said"), [(1, "person"), (2, "people")])
def test_the_first_sentence_of_a_page(people, said):
    plan = SimpleNamespace(loss=SimpleNamespace(unit=PrivacyUnit()))
    finding = {"people": people, "margin": 0, "columns": "age"}
    page = " ".join(
        render_to_string("releases/_finding.html", {"plan": plan, "shown": {"finding": finding}}).split()
    )
    assert f"<strong>{people}</strong> {said}, by age." in page


@pytest.mark.parametrize(("error", "said"), [(1.0, "1 person."), (4.0, "2 people.")])
def test_the_expected_error_of_a_running_count(error, said):
    request = SimpleNamespace(largest=1, horizon=7)
    assert _explanation(request, Loss(Definition.PURE, Fraction(1)), 7, error).endswith(said)


def test_the_verifier_knows_the_sentences_of_one():
    phrases = {phrase for phrase, *_names in PHRASES}
    assert {"# person, by …", "# row, by …", "Margin: ± # person"} <= phrases
