"""The privacy statement, checked against numbers worked out by hand."""

from decimal import Decimal
from fractions import Fraction

from dpportal.budgets.amounts import plain
from dpportal.publications.statement import Counting, epsilon_delta_text, statement
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit

ONE_ROW = PrivacyUnit(Neighbours.ADD_REMOVE, 1)


def test_a_pure_loss_is_said_as_a_factor_that_is_rounded_up():
    # exp(0.25) = 1.28403
    assert "at most a factor of 1.29" in statement(
        Loss(Definition.PURE, Fraction(1, 4), ONE_ROW), 1e-6, Counting()
    )


def test_a_loss_beyond_all_floats_is_still_said():
    assert "a factor of more than 10³⁰⁰" in statement(
        Loss(Definition.PURE, Fraction(800), ONE_ROW), 1e-6, Counting()
    )


def test_zcdp_is_also_said_as_epsilon_and_delta():
    text = statement(Loss(Definition.ZCDP, Fraction(1, 100), ONE_ROW), 1e-6, Counting())
    assert "ρ = 0.01" in text
    assert "δ = 10⁻⁶" in text


def test_a_pure_loss_has_no_delta():
    assert epsilon_delta_text(Loss(Definition.PURE, Fraction(1), ONE_ROW), 1e-6) == ""


def test_the_loss_is_written_as_amounts_are_on_pages():
    assert str(Loss(Definition.PURE, Fraction(1, 2), ONE_ROW)) == "ε = 0.50"
    for text in ("100", "0.5", "0.25", "0.284349", "0.000001"):
        assert str(Loss(Definition.PURE, Fraction(text), ONE_ROW)) == f"ε = {plain(Decimal(text))}"


def test_a_small_loss_is_written_as_every_other_number():
    loss = Loss(Definition.ZCDP, Fraction("0.00005"), ONE_ROW)
    assert "with ρ = 0.00005, which" in statement(loss, 1e-6, Counting())


def test_no_digit_of_a_loss_is_left_out():
    assert str(Loss(Definition.PURE, Fraction("12.345678"), ONE_ROW)) == "ε = 12.345678"


def test_add_remove_hides_who_is_in_the_table():
    text = statement(Loss(Definition.PURE, Fraction(1), ONE_ROW), 1e-6, Counting())
    assert "even whether they are in the table stays hidden" in text


def test_replace_one_says_that_the_number_of_rows_is_public():
    unit = PrivacyUnit(Neighbours.REPLACE_ONE, 1)
    assert "number of rows is public" in statement(Loss(Definition.PURE, Fraction(1), unit), 1e-6, Counting())


def test_replace_one_with_several_rows_hides_how_many_they_are():
    for unit in (
        PrivacyUnit(Neighbours.REPLACE_ONE, 2),
        PrivacyUnit(Neighbours.REPLACE_ONE, 1, may_be_absent=True),
    ):
        text = statement(Loss(Definition.PURE, Fraction(1), unit), 1e-6, Counting())
        assert "stays hidden, and how many they are" in text and "is public" not in text


def test_the_column_that_makes_rows_one_person_s_is_named():
    text = statement(Loss(Definition.PURE, Fraction(1), PrivacyUnit(max_rows=3)), 1e-6, Counting("patient"))
    assert "All rows with the same “patient” are one person's, who counts with at most 3 rows" in text


def test_of_people_without_a_table_no_row_and_no_table_is_spoken_of():
    once = statement(Loss(Definition.PURE, Fraction(1), ONE_ROW), 1e-6, Counting(without_table=True))
    assert "A person is counted once; even whether they are counted stays hidden." in once
    thrice = Loss(Definition.PURE, Fraction(1), PrivacyUnit(Neighbours.REPLACE_ONE, 3))
    several = statement(thrice, 1e-6, Counting("patient number", without_table=True))
    assert "known again by “patient number”, is counted at most 3 times" in several
    assert "when and where they are counted stays hidden" in several
    assert "row" not in once + several and "table" not in once + several


def test_a_person_with_several_rows_is_said():
    unit = PrivacyUnit(Neighbours.ADD_REMOVE, 3)
    assert "at most 3 rows" in statement(Loss(Definition.PURE, Fraction(1), unit), 1e-6, Counting())
