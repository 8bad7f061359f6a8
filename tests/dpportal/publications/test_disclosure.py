"""What a bundle says of its protection, for registries of deployments."""

from __future__ import annotations

from fractions import Fraction

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit, zcdp_to_epsilon
from mechanisms.disclosure import Disclosure

UNIT = PrivacyUnit(Neighbours.REPLACE_ONE, 3)


def test_a_pure_loss_is_stated_exactly():
    facts = Disclosure(
        Loss(Definition.PURE, Fraction(1, 10), UNIT), 1e-6, "laplace-histogram", {"law": "x"}
    ).facts()
    assert (facts["epsilon"], facts["delta"], facts["noise"]) == ("1/10", "0", {"law": "x"})
    assert (facts["unit"], facts["rows_of_a_person_at_most"], facts["neighbours"]) == (
        "person",
        3,
        "replace-one",
    )
    assert facts["model"] == "central" and "add up" in facts["composition"]


def test_a_concentrated_loss_is_stated_with_what_it_implies():
    loss = Loss(Definition.ZCDP, Fraction(1, 2))
    exact, whole = (Disclosure(loss, 1e-6, "fda", None, orders).facts() for orders in (False, True))
    assert exact["implies"] == {"epsilon": zcdp_to_epsilon(0.5, 1e-6), "delta": 1e-6}
    assert whole["implies"]["epsilon"] >= exact["implies"]["epsilon"] and "noise" not in exact
