"""The privacy statement of a release, in plain words; the same text in the wizard, on the page and in the bundle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from django.utils.translation import gettext as _, ngettext

from dpportal.platform.listed_names import in_a_row
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit, chance_factor, zcdp_to_epsilon
from mechanisms.number_text import power_of_ten, small_text


@dataclass(frozen=True)
class Counting:
    """How people are counted.

    person_column: whose equal values are one person's rows; empty where each person has one row. by_curator: whether
    no program, but whoever counts sees to it that nobody has more rows. without_table: whether the portal has nobody's
    rows, but numbers alone.
    """

    person_column: str = ""
    by_curator: bool = False
    without_table: bool = False


def statement(
    loss: Loss,
    delta: float,
    counting: Counting,
    subject: str = "",
    *,
    whole_orders: bool = False,
    total_published: bool = False,
) -> str:
    """What the loss promises a person.

    delta: at which a zCDP loss is also read as (ε, δ), by integer orders alone where no others are proved. subject: of
    the sentence, translated; "This release" if empty. total_published: whether other releases make the number of rows
    public that this one hides, exactly or nearly, or will.
    """
    pair = epsilon_delta_text(loss, delta, whole_orders=whole_orders)
    sentences = (
        _promise(loss, pair, subject or _("This release")),
        _counted(loss.unit, counting.person_column)
        if counting.without_table
        else _protected_text(loss.unit, counting.person_column, counting.by_curator),
        "" if counting.without_table or counting.by_curator else _unidentified(counting.person_column),
        _total_published() if total_published and not loss.unit.total_public else "",
        _limits(),
    )
    return in_a_row(sentences)


def _unidentified(person_column: str) -> str:
    if not person_column:
        return ""
    text = _("Rows without a value of “%(column)s” are left out, and how many they are stays hidden.")
    return text % {"column": person_column}


def _total_published() -> str:
    return _(
        "That holds for this release alone: other releases of this table, or of nearly the same one, may make the "
        "number of its rows public."
    )


def epsilon_delta_text(loss: Loss, delta: float, *, whole_orders: bool = False) -> str:
    """The reading of a zCDP loss as (ε, δ), whose δ is `delta` and that of the loss; empty for a pure loss.

    Source: Bun and Steinke 2016, Lemma 8.8: δ-approximate ρ-zCDP that reads as (ε, δ') is (ε, δ + δ')-DP at most.
    """
    if loss.definition is Definition.PURE:
        return ""
    epsilon = zcdp_to_epsilon(float(loss.amount), delta, whole_orders=whole_orders)
    read_at = power_of_ten(round(math.log10(delta)))
    if loss.delta:
        read_at = small_text(Fraction(f"{delta:.0e}") + loss.delta)
    return _("(ε = %(epsilon)s, δ = %(delta)s)") % {"epsilon": rounded_up(epsilon, 2), "delta": read_at}


def _promise(loss: Loss, pair: str, subject: str) -> str:
    """pair: the loss read as (ε, δ), where it is not pure."""
    if loss.definition is Definition.PURE:
        values = {
            "subject": subject,
            "loss": str(loss),
            "factor": rounded_up(chance_factor(float(loss.amount)), 2),
            "change": _change(loss),
        }
        return (
            _(
                "%(subject)s is differentially private with %(loss)s: the chance of this result, and so of anything "
                "concluded from it, differs by at most a factor of %(factor)s from what it would be %(change)s."
            )
            % values
        )
    values = {"subject": subject, "loss": str(loss), "pair": pair}
    return (
        _(
            "%(subject)s is zero-concentrated differentially private with %(loss)s, which implies %(pair)s: what "
            "anyone can conclude from it depends only that little on the data of any one person."
        )
        % values
    )


def _change(loss: Loss) -> str:
    if loss.unit.neighbours is Neighbours.ADD_REMOVE:
        return _("without any one of the people")
    return _("if any one person's data were different")


def _protected_text(unit: PrivacyUnit, person_column: str, by_curator: bool) -> str:
    if unit.neighbours is Neighbours.ADD_REMOVE:
        hidden = _("even whether they are in the table stays hidden")
    elif unit.total_public:
        hidden = _("what it says stays hidden, while the number of rows is public")
    else:
        hidden = _("what these say stays hidden, and how many they are")
    rows = ngettext("one row", "at most %(rows)s rows", unit.max_rows) % {"rows": unit.max_rows}
    if not person_column:
        return _("A person counts with %(rows)s; %(hidden)s.") % {"rows": rows, "hidden": hidden}
    if by_curator:
        text = _(
            "All rows with the same “%(column)s” are one person's, who counts with %(rows)s: the portal is told "
            "numbers, and the curator who counts sees to that; %(hidden)s."
        )
        return text % {"column": person_column, "rows": rows, "hidden": hidden}
    text = _(
        "All rows with the same “%(column)s” are one person's, who counts with %(rows)s, chosen at random if there are "
        "more; %(hidden)s."
    )
    return text % {"column": person_column, "rows": rows, "hidden": hidden}


def _counted(unit: PrivacyUnit, person: str) -> str:
    """Of people whom the curator counts. person: by what the curator knows them again, where one may count twice."""
    if unit.neighbours is Neighbours.ADD_REMOVE:
        hidden = _("even whether they are counted stays hidden")
    else:
        hidden = _("when and where they are counted stays hidden")
    times = ngettext("once", "at most %(times)s times", unit.max_rows) % {"times": unit.max_rows}
    if not person:
        return _("A person is counted %(times)s; %(hidden)s.") % {"times": times, "hidden": hidden}
    text = _(
        "A person, known again by “%(person)s”, is counted %(times)s: the portal is told numbers, and the curator who "
        "counts sees to that; %(hidden)s."
    )
    return text % {"person": person, "times": times, "hidden": hidden}


def _limits() -> str:
    return _(
        "It does not hide what is true of a whole group, and the costs of all releases from the same people add up."
    )


def rounded_up(value: float, decimals: int) -> str:
    """A number rounded up, so that a promise is never overstated: three digits of thousands, two of millions."""
    if math.isinf(value):
        return _("more than %(number)s") % {"number": power_of_ten(300)}
    if value >= 1000:
        exponent = math.floor(math.log10(value))
        precision = 2 if value < 10**6 else 1
        digits = math.ceil(value / 10.0 ** (exponent - precision) * (1 - 1e-12))
        if value >= 10**9:
            return f"{digits / 10} × {power_of_ten(exponent)}"
        return f"{digits * 10 ** (exponent - precision):,}"
    grid = 10**decimals
    return f"{math.ceil(value * grid - 1e-9) / grid:,.{decimals}f}"
