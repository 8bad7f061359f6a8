"""What publications say of their columns' values, where these were chosen privately, and of what that cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar
from uuid import UUID

from django.db.models import QuerySet, prefetch_related_objects
from django.utils.translation import gettext as _

from dpportal.budgets.account_amounts import require_amounts
from dpportal.budgets.amounts import plain
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.models import Budget
from dpportal.datasets.models import DomainVersion, PublicDescription
from dpportal.history import watched
from dpportal.platform.json_types import Json
from dpportal.publications.statement import epsilon_delta_text
from dpportal.value_choices.models import ValueChoice
from mechanisms.accounting import Definition, Loss
from mechanisms.disclosure import loss_text, with_choices
from mechanisms.domain import Domain

P = TypeVar("P", bound=ChargedPublication)


def require_texts(publication: ChargedPublication) -> None:
    """Raise ForgedRowError unless all else that files of a publication tell of is what the portal wrote.

    The names of dataset and curator, the dataset's description, chosen values, all accounts of the same people, and
    what these spent.
    """
    watched.require_fields(publication.dataset, "name")
    watched.require_fields(publication.created_by, "display_name")
    described = PublicDescription.objects.filter(dataset=publication.dataset, shown=True)
    watched.require_written(*described)
    choices = list(ValueChoice.objects.filter(dataset=publication.dataset))
    watched.require_all(choices, ValueChoice, "dataset_id", [publication.dataset.pk])
    bound = [dataset.pk for dataset in publication.dataset.bound_together]
    accounts = list(Budget.objects.filter(dataset__in=bound))
    watched.require_all(accounts, Budget, "dataset_id", bound)
    require_amounts(accounts)


@dataclass(frozen=True)
class PublishedLoss:
    """What a publication cost, with the private choices that its columns have their values from.

    own: of the publication alone. choices: the oldest first. account: the budget that paid for the publication.
    """

    own: Loss
    choices: tuple[ValueChoice, ...]
    account: Budget

    @classmethod
    def of(cls, publication: ChargedPublication) -> PublishedLoss:
        """Of one that was confirmed: from here all that names its cost has it."""
        return losses_of([publication])[publication.pk]

    @property
    def total(self) -> Loss:
        """With the choices that the same budget paid for; others protect other people, or count in the other unit."""
        return with_choices(self.own, self.chosen_facts())

    def __str__(self) -> str:
        """Such as ε = 0.6, δ = 10⁻⁷, of which ε = 0.5, δ = 10⁻⁷ for values chosen privately."""
        return loss_text(
            self.own,
            self.chosen_facts(),
            _("%(total)s, of which %(chosen)s for values chosen privately"),
            _("%(total)s, and %(chosen)s of another budget for values chosen privately"),
        )

    def pair(self, *, whole_orders: bool = False) -> str:
        """The total as (ε, δ), where it is of ρ; see `epsilon_delta_text`."""
        return epsilon_delta_text(self.total, self.account.delta, whole_orders=whole_orders)

    def sentences(self) -> list[str]:
        """Each choice with its cost, which comes on top of the publication's own; and both together."""
        sentences = _sentences(self.choices)
        if self.total != self.own:
            sentences.append(_("Together that is %(total)s.") % {"total": self.total})
        return sentences

    def facts(self) -> Json:
        """For programs: what was paid for the values, where they were chosen privately."""
        chosen = self.chosen_facts()
        return {"values_chosen_privately": chosen} if chosen else {}

    def chosen_facts(self) -> list[Json]:
        """Each choice, and whether the same budget paid for it."""
        return [{**_facts(choice), "of_the_same_budget": self._adds(choice)} for choice in self.choices]

    def _adds(self, choice: ValueChoice) -> bool:
        return choice.charge.budget_id == self.account.pk


def losses_of(publications: Collection[P]) -> Mapping[UUID, PublishedLoss]:
    """What each of these cost, by its id; by few queries, however many these are."""
    by_dataset: dict[UUID, list[ValueChoice]] = {}
    for choice in _choices_of(publication.dataset_id for publication in publications):
        by_dataset.setdefault(choice.dataset_id, []).append(choice)
    # Whatever rests on no choice needs no declaration to be read.
    resting = [publication for publication in publications if publication.dataset_id in by_dataset]
    prefetch_related_objects(resting, "domain_version__attributes")
    versions = {each.domain_version for each in resting if each.domain_version}
    domains = {version.pk: version.domain() for version in versions}
    return {
        each.pk: _loss_of(each, by_dataset.get(each.dataset_id, []), domains.get(each.domain_version_id))
        for each in publications
    }


def _loss_of(
    publication: ChargedPublication, choices: list[ValueChoice], domain: Domain | None
) -> PublishedLoss:
    """choices: of its dataset. domain: of all its columns, where any was made."""
    account, amount = publication.account, publication.amount
    assert account is not None and amount is not None
    read = domain.project(publication.counted_columns).read if domain else ()
    before = [c for c in choices if domain and c.column in read and _rests_on(publication, c, domain)]
    own = Loss(Definition(account.definition), Fraction(amount))
    return PublishedLoss(own, tuple(before), account)


def _rests_on(publication: ChargedPublication, choice: ValueChoice, domain: Domain) -> bool:
    """Whether a choice was made before a publication was confirmed.

    Where clocks disagree: whether it was paid for before, and its values are those that are declared.
    """
    measured_at, confirmed_at, charge = choice.measured_at, publication.requested_at, publication.charge_id
    assert measured_at is not None and confirmed_at is not None and charge is not None
    if measured_at <= confirmed_at:
        return True
    declared = next((each for each in domain.attributes if each.name == choice.column), None)
    return choice.charge_id < charge and declared is not None and choice.declares(declared)


def sentences_of_draft(draft: ChargedPublication, version: DomainVersion) -> list[str]:
    """The choices that a draft would rest on. version: of the domain."""
    read = version.domain().project(draft.counted_columns).read
    return _sentences([choice for choice in _choices_of([draft.dataset_id]) if choice.column in read])


def _choices_of(datasets: Iterable[UUID]) -> QuerySet[ValueChoice]:
    """The choices of these datasets that were made, the oldest first."""
    measured = ValueChoice.objects.filter(dataset__in=set(datasets)).exclude(measured_at=None)
    return measured.select_related("charge__budget", "domain_version").order_by("measured_at")


def _sentences(choices: Iterable[ValueChoice]) -> list[str]:
    """One for each column and cost, however often they were chosen at it; true of what is typed by hand since, too."""
    times = Counter((choice.column, str(choice.loss)) for choice in choices)
    return [_sentence(often) % {"column": column, "loss": loss} for (column, loss), often in times.items()]


def _sentence(times: int) -> str:
    if times == 1:
        return _("Values of “%(column)s” were chosen privately, at %(loss)s besides.")
    if times == 2:
        return _("Values of “%(column)s” were chosen privately twice, each time at %(loss)s besides.")
    return _("Values of “%(column)s” were chosen privately several times, each time at %(loss)s besides.")


def _facts(choice: ValueChoice) -> Json:
    return {
        "column": choice.column,
        "definition": choice.charge.budget.definition,
        "amount": plain(choice.charge.amount),
        "delta": plain(choice.charge.delta),
    }
