"""How a publication was protected, in one place for programs: what registries of deployments ask for.

Source: NIST SP 800-226, what a claim of differential privacy must state; Dwork, Kohli, Mulligan 2019, an epsilon
registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from mechanisms import __version__
from mechanisms.accounting import Definition, Loss, zcdp_to_epsilon
from mechanisms.json_types import JsonObject

COMPOSITION = {
    Definition.PURE: "Sequential: ε of all releases about the same people add up",
    Definition.ZCDP: "Sequential: ρ of all releases about the same people add up (zCDP)",
}
BOUNDS = "declared by the curator; values outside them are treated as the declaration says"
BOUNDS_TAKEN = (
    "declared by the curator, those of the columns in bounds_taken_from_data after the data, which no privacy cost "
    "covers; values outside them are treated as the declaration says"
)
AFTER = "post-processing only: nothing else was read from the data"
AFTER_TAKEN = (
    "post-processing only: nothing else was read from the data but, before, the bounds of the columns in "
    "bounds_taken_from_data"
)
NOISE_UNIT = (
    "steps of the whole numbers that it is added to; one person moves these by the sensitivity at most"
)
OF_WHICH = "%(total)s, of which %(chosen)s for values chosen privately"
AND_BESIDES = "%(total)s, and %(chosen)s of another budget for values chosen privately"


@dataclass(frozen=True)
class Disclosure:
    """loss: of the publication alone. total: with what was paid before for its columns' values; None where nothing was.

    delta: at which a ρ is stated as (ε, δ). whole_orders: see `zcdp_to_epsilon`. noise: see `noise_facts`. taken: the
    columns whose values or limits were taken from the data. All data lie with the portal, which adds the noise: the
    central model.
    """

    loss: Loss
    delta: float
    mechanism: str
    noise: JsonObject | None = None
    whole_orders: bool = False
    total: Loss | None = None
    taken: Sequence[str] = ()

    def facts(self) -> JsonObject:
        """For release.json."""
        unit = self.loss.unit
        return {
            "model": "central",
            "definition": self.loss.definition.value,
            **self._amounts(self.total or self.loss),
            **({"without_the_choice_of_values": self._amounts(self.loss)} if self.total else {}),
            "unit": "person",
            "rows_of_a_person_at_most": unit.max_rows,
            "neighbours": unit.neighbours.value,
            "composition": COMPOSITION[self.loss.definition],
            "mechanism": self.mechanism,
            **({"noise": self.noise} if self.noise else {}),
            "bounds": BOUNDS_TAKEN if self.taken else BOUNDS,
            "bounds_taken_from_data": list(self.taken),
            "after_the_noise": AFTER_TAKEN if self.taken else AFTER,
            "randomness": "exact sampling on whole numbers, from the operating system's generator",
            "software": {"name": "mechanisms", "version": __version__},
        }

    def _amounts(self, loss: Loss) -> JsonObject:
        amount = str(loss.amount)
        if loss.definition is Definition.PURE:
            return {"epsilon": amount, "delta": str(loss.delta)}
        epsilon = zcdp_to_epsilon(float(loss.amount), self.delta, whole_orders=self.whole_orders)
        spent = {"delta": str(loss.delta)} if loss.delta else {}
        return {
            "rho": amount,
            **spent,
            "implies": {"epsilon": epsilon, "delta": self.delta + float(loss.delta)},
        }


def noise_facts(plan: JsonObject) -> JsonObject | None:
    """The law of a plan's noise, and what its scale is measured by; None where a method has several, or chances.

    plan: as JSON. Whole numbers are counts of rows, or these times weights, which may be large: a scale says nothing
    without the sensitivity.
    """
    if "noise" not in plan:
        return None
    return {**plan["noise"], "unit": NOISE_UNIT, "sensitivity": plan["sensitivity"]}


def with_choices(own: Loss, chosen: Sequence[JsonObject]) -> Loss:
    """A loss with what the same budget paid for values that were chosen privately; both parts add up.

    chosen: as `values_chosen_privately` of release.json.
    """
    return summed([own, *(_paid(choice, own) for choice in chosen if choice["of_the_same_budget"])])


def loss_text(
    own: Loss, chosen: Sequence[JsonObject], same_budget: str = OF_WHICH, other_budget: str = AND_BESIDES
) -> str:
    """A loss with what was paid before for values: as release.json says it, or by another language's two sentences.

    chosen: as of `with_choices`.
    """
    text = str(with_choices(own, chosen))
    added = [_paid(choice, own) for choice in chosen if choice["of_the_same_budget"]]
    if added:
        text = same_budget % {"total": text, "chosen": summed(added)}
    for choice in chosen:
        if not choice["of_the_same_budget"]:
            text = other_budget % {"total": text, "chosen": _paid(choice, own)}
    return text


def _paid(choice: JsonObject, own: Loss) -> Loss:
    definition = Definition(choice["definition"])
    return Loss(definition, Fraction(choice["amount"]), own.unit, Fraction(choice["delta"]))


def summed(losses: Sequence[Loss]) -> Loss:
    """Of losses that one budget paid for: both parts add up."""
    first = losses[0]
    amount = sum((loss.amount for loss in losses), Fraction(0))
    delta = sum((loss.delta for loss in losses), Fraction(0))
    return Loss(first.definition, amount, first.unit, min(Fraction(1), delta))
