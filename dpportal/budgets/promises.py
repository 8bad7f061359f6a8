"""What the releases of a dataset under one protection mean for the people of another, in words and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.db.models import Q
from django.utils.translation import gettext as _

from dpportal.budgets.amounts import PLACES
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection
from dpportal.platform.json_digest import json_digest
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_a_row
from mechanisms.accounting import Definition, Loss, Neighbours, group_delta, plainly
from mechanisms.number_text import with_two_decimals

if TYPE_CHECKING:
    from dpportal.budgets.models import Budget

# The rows of the person in worked sentences; taken from no table.
EXAMPLE_ROWS = 10


@dataclass(frozen=True)
class AccountPromise:
    """An account as it matters to people of another one. amount: of ε or ρ. anybody: who it is without a column.

    delta: of δ besides.

    is_bound: whether it pays for other datasets of nearly the same people. names_column: whether the column that names
    people may be said; that of a dataset of which perhaps nothing is published may not.
    """

    protection: Protection
    definition: Definition
    amount: Decimal
    anybody: str
    is_bound: bool = False
    names_column: bool = True
    delta: Decimal = Decimal(0)

    @classmethod
    def of(cls, budget: Budget, amount: Decimal, delta: Decimal) -> AccountPromise:
        definition = Definition(budget.definition)
        return cls(budget.protection, definition, amount, anybody_of(budget.dataset), delta=delta)

    @classmethod
    def spent_of(cls, budget: Budget) -> AccountPromise:
        """What an account has spent."""
        return cls.of(budget, budget.spent, budget.delta_spent)

    @property
    def kind(self) -> tuple[str, str, bool, str, str]:
        """What two accounts have in common whose amounts add up."""
        protection = self.protection
        return (
            protection.neighbours,
            protection.unit_column,
            protection.ignore_case,
            self.definition.value,
            self.anybody,
        )

    @property
    def who(self) -> str:
        if self.names_column:
            return self.protection.in_words(self.anybody)
        return replace(self.protection, unit_column="").in_words(_("each person"))

    @property
    def loss(self) -> Loss:
        return Loss(self.definition, Fraction(self.amount), delta=Fraction(self.delta))

    @property
    def rounded_loss(self) -> Loss:
        """The same for readers, rounded up as what is left is rounded down: costs that are listed add up to it."""
        places = max(-PLACES, min(-2, self.amount.adjusted() - 1)) if self.amount else -2
        return replace(
            self.loss, amount=Fraction(self.amount.quantize(Decimal(1).scaleb(places), ROUND_CEILING))
        )

    @property
    def as_risk(self) -> str:
        """The query of the guide's page that says what it means for one person."""
        return urlencode(
            {
                "definition": self.definition.value,
                "amount": plainly(Fraction(self.amount)),
                "neighbours": self.protection.neighbours,
                "running": "on",
                **({"delta": f"{self.delta.normalize():f}"} if self.delta else {}),
            }
        )

    def facts(self) -> Json:
        """For programs. person_column: empty where each row is a person, null if people are named by one not said."""
        return {
            "neighbours": self.protection.neighbours,
            "person_column": self.protection.unit_column if self.names_column else None,
            "ignore_case": self.protection.ignore_case if self.names_column else None,
            "definition": self.definition.value,
            "spent": f"{self.amount.normalize():f}",
            **({"delta": f"{self.delta.normalize():f}"} if self.delta else {}),
        }

    def for_people_of(self, own: Protection, *, total_published: bool = False) -> str:
        """The amount spent here, and what that costs one person as the other promise sees people."""
        worked = _worked(self.loss, own, self.protection)
        sentences = [self._spent_text() % {"who": self.who, "loss": self.loss}]
        if self.protection == own:
            sentences.append(_("For a person who is in them, that adds up with what this dataset has spent."))
        if worked["times"] > 1:
            cost = _("That can cost %(person)s up to %(cost)s (%(factor)s)%(beside)s.")
            tells = total_published and not self.protection.hides_total
            sentences.append(cost % {**worked, "beside": _besides_total() if tells else ""})
        return in_a_row(sentences)

    def _spent_text(self) -> str:
        if self.is_bound:
            return _(
                "Releases and private choices of other datasets of nearly the same people protect %(who)s, and have "
                "spent %(loss)s in all."
            )
        return _(
            "Other releases and private choices of this dataset protect %(who)s, and have spent %(loss)s in all."
        )

    def from_release(self, loss: Loss, own: Protection, subject: str) -> str:
        """What a release under the other promise costs a person as this one sees people; empty if nothing more."""
        worked = _worked(loss, self.protection, own)
        if worked["times"] == 1:
            return ""
        text = _(
            "In the sense of that promise, %(subject)s can cost %(person)s up to %(cost)s (%(factor)s)%(beside)s."
        )
        besides = _besides_total() if loss.unit.total_public else ""
        return text % {"subject": subject, "beside": besides, **worked}


@dataclass(frozen=True)
class OtherPromises:
    """What else was released of the people of a dataset, beside what one account paid for.

    accounts: the others of which something is spent, of the dataset and of those that are bound together with it.
    total_published: whether any release of these datasets makes the number of rows public, see `publishes_total`.
    """

    accounts: tuple[AccountPromise, ...] = ()
    total_published: bool = False

    @classmethod
    def of(cls, budget: Budget) -> OtherPromises:
        """The promises beside those of this account, and what becomes of the number of rows.

        A release that was confirmed before publishes that number whenever its job ends: whoever is confirmed meanwhile
        says so from the first.
        """
        own, *bound = budget.dataset.bound_together
        others = [b for b in own.budgets.all() if b.is_used and b.pk != budget.pk]
        spent = [AccountPromise.spent_of(b) for b in others if b.spent]
        spent_on_linked_datasets = _spent_by(bound, budget.unit_column)
        return cls((*spent, *spent_on_linked_datasets), _publish_total([own, *bound]))

    @property
    def without_amounts(self) -> OtherPromises:
        """Who is promised what, however much is spent: files written before it changed say what is not so."""
        return replace(
            self, accounts=tuple(replace(each, amount=Decimal(0), delta=Decimal(0)) for each in self.accounts)
        )

    @property
    def spending(self) -> str:
        """The digest of how much was spent under the others; empty if nothing was.

        Files that say less stay until there are new ones.
        """
        if not self.accounts:
            return ""
        return json_digest([account.facts() for account in self.accounts])

    def sentences(self, loss: Loss, own: Protection, subject: str) -> list[str]:
        """What a statement of a release with this loss says of the others. subject: such as "This release"."""
        sentences: list[str] = []
        for account in self.accounts:
            sentences.append(account.for_people_of(own, total_published=self.total_published))
            sentences.append(account.from_release(loss, own, subject))
        if any(account.protection != own for account in self.accounts):
            sentences.append(_("Costs under different promises are not added to each other."))
        return list(filter(None, sentences))

    @property
    def named(self) -> Json:
        """What files must not leave out, to be compared with what they say; empty if nothing else was promised."""
        return self.without_amounts.facts() if self != OtherPromises() else {}

    def facts(self) -> Json:
        """The promises as release.json has them."""
        bound = [account.facts() for account in self.accounts if account.is_bound]
        others = [account.facts() for account in self.accounts if not account.is_bound]
        return {
            "released_under_other_protections_too": bool(others),
            "other_protections": others,
            "other_datasets_of_nearly_the_same_people": bound,
            "number_of_rows_is_public_by_any_release": self.total_published,
        }


def spent_on_linked_datasets(dataset: Dataset) -> list[AccountPromise]:
    """What other datasets of nearly the same people have spent; no column of theirs is named."""
    _own, *bound = dataset.bound_together
    return _spent_by(bound, "")


def _spent_by(bound: Iterable[Dataset], known_column: str) -> list[AccountPromise]:
    """What other datasets of the same people have spent, added up for each protection.

    known_column: names people in the dataset for whose readers this is; no other one is named.
    """
    accounts = [AccountPromise.spent_of(b) for each in bound for b in each.budgets.all() if b.spent]
    added = []
    by_kind = attrgetter("kind")
    for _kind, same in groupby(sorted(accounts, key=by_kind), key=by_kind):
        first, *others = same
        amount = sum((other.amount for other in others), first.amount)
        delta = sum((other.delta for other in others), first.delta)
        named = first.protection.unit_column in ("", known_column)
        added.append(replace(first, amount=amount, delta=delta, is_bound=True, names_column=named))
    return added


def _besides_total() -> str:
    """The clause for costs that do not cover a public number of rows."""
    return _(", besides what the number of rows tells")


def persons_in(person: Protection, among: Protection) -> int:
    """How many people of another promise one person can be who has EXAMPLE_ROWS rows; 1 where a person is one row."""
    same_column = person.unit_column == among.unit_column
    is_one_there = same_column and (among.ignore_case or not person.ignore_case)
    return 1 if is_one_there or not person.unit_column else EXAMPLE_ROWS


def _steps(person: Protection, among: Protection) -> int:
    """The steps of a promise in which a person is replaced: two where one leaves and another enters."""
    replaced = person.neighbours == Neighbours.REPLACE_ONE and among.neighbours == Neighbours.ADD_REMOVE
    return 2 if replaced else 1


def _worked(loss: Loss, person: Protection, among: Protection) -> Json:
    """What a loss under the promise `among` is for a person: k steps away, so kε, or k²ρ; of δ see `group_delta`.

    Source: for ρ Bun and Steinke 2016, Proposition 1.9.
    Returns times (k), cost, factor (how it is reached) and person (whom it is worked out for).
    """
    factors = [n for n in (_steps(person, among), persons_in(person, among)) if n > 1]
    times = math.prod(factors)
    squared = loss.definition is Definition.ZCDP
    amount = loss.amount * (times**2 if squared else times)
    cost = replace(loss, amount=amount, delta=group_delta(loss, times))
    shown = [f"{n}²" if squared else str(n) for n in factors]
    several = _("a person with %(rows)s rows") % {"rows": EXAMPLE_ROWS}
    once = _("a person who is replaced by another")
    return {
        "times": times,
        "cost": cost,
        "factor": " × ".join([*shown, with_two_decimals(plainly(loss.amount))]),
        "person": several if persons_in(person, among) > 1 else once,
    }


def publishes_total(dataset: Dataset) -> bool:
    """Whether a release of it, or of what is bound together with it, makes the number of rows public, or will soon."""
    return _publish_total(dataset.bound_together)


def _publish_total(datasets: Sequence[Dataset]) -> bool:
    publishing = Q(ledger__state__in=("reserved", "spent"), ledger__total_public=True)
    return Dataset.objects.filter(publishing, pk__in=[dataset.pk for dataset in datasets]).exists()


def anybody_of(dataset: Dataset) -> str:
    """Who is protected where no column names people."""
    return _("each row, as one person") if dataset.had_table else _("each person")


def before_change(dataset: Dataset) -> list[str]:
    """What each account in use means for a person, to be read before somebody else is protected."""
    used = [budget for budget in dataset.budgets.all() if budget.is_used]
    return [_before_change(_promised(budget)) for budget in used]


def _promised(budget: Budget) -> AccountPromise:
    """What an account has spent, or will."""
    spent, delta = budget.spent + budget.reserved, budget.delta_spent + budget.delta_reserved
    return AccountPromise.of(budget, spent, delta)


def _before_change(account: AccountPromise) -> str:
    own = account.protection
    rows, people = replace(own, unit_column=""), replace(own, unit_column=own.unit_column or "*")
    values = {"who": account.who, "loss": account.loss, **_worked(account.loss, people, rows)}
    if own.unit_column:
        text = _(
            "%(loss)s is spent or reserved to protect %(who)s, with all their rows together. Releases at the same cost "
            "that protect each row by itself can cost %(person)s %(cost)s (%(factor)s)."
        )
    else:
        text = _(
            "%(loss)s is spent or reserved to protect %(who)s. That can cost %(person)s up to %(cost)s (%(factor)s). "
            "Protecting whole people from now on does not take it back."
        )
    return text % values


def before_grant(dataset: Dataset, own: Protection) -> list[tuple[str, str]]:
    """The accounts for other protections than the one declared now, each by its key, and what they mean together.

    own: what is declared now.
    """
    others = [b for b in dataset.budgets.all() if b.is_fixed and b.total and b.protection != own]
    return [
        (str(budget.pk), _before_grant(AccountPromise.of(budget, budget.total, budget.delta_total), own))
        for budget in others
    ]


def _before_grant(account: AccountPromise, own: Protection) -> str:
    granted = _("%(loss)s is granted already to protect %(who)s.") % {
        "loss": account.loss,
        "who": account.who,
    }
    there = _worked(account.loss, own, account.protection)
    one = Loss(account.definition, Fraction(1))
    here = {**_worked(one, account.protection, own), "one": one}
    of_theirs = _("It can cost %(person)s, as this grant sees people, up to %(cost)s (%(factor)s).")
    of_this = _("Each %(one)s granted here can cost %(person)s, as that promise sees people, up to %(cost)s.")
    sentences = [
        granted,
        of_theirs % there if there["times"] > 1 else "",
        of_this % here if here["times"] > 1 else "",
        _("Costs under different promises are not added to each other."),
    ]
    return in_a_row(sentences)
