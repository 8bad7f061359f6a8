"""The methods of a draft at one cost, side by side: those recommended, the one chosen, and what it will be worth."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import cached_property

from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.publications.cost_search import shown
from dpportal.releases.drafts import Offer
from dpportal.releases.models import Release
from dpportal.releases.products import AUTOMATIC, AnyPlanner, ReleasePlan, method_title, planner_of
from dpportal.releases.products.shared.average_group import is_smallest
from dpportal.releases.products.shared.recommendation import Recommendations


class SideBySide:
    """Works out what the wizard shows of all methods. checked: the method that the form holds, if any."""

    def __init__(self, draft: Release, offers: list[Offer], checked: str | None, amount: Decimal) -> None:
        self._draft, self._offers, self._checked, self._amount = draft, offers, checked, amount
        self._planner: AnyPlanner = planner_of(draft)

    @property
    def context(self) -> Json:
        return {
            **self._of_the_chosen,
            "best_method": self._best,
            "recommended": self._recommended.methods,
            "chosen_among_others": self.chosen
            not in [method.mechanism for method in self._recommended.methods],
            "advice": self._recommended.grounds,
            "offers": [row for row in self._rows if _is_suited(row)],
            "unsuited": [row for row in self._rows if not _is_suited(row)],
            "figure": self._noise_picture(),
        }

    @cached_property
    def chosen(self) -> str | None:
        """The method asked for, where it has a plan; else the first that is recommended."""
        if self._checked == AUTOMATIC and self._planner.has_automatic:
            return self._checked
        if self._checked in self._method_plans:
            return self._checked
        return next((method.mechanism for method in self._recommended.methods), None)

    @property
    def _of_the_chosen(self) -> Json:
        plan, chosen = self.plan_of_the_chosen, self.chosen
        verdict = self._planner.verdict(plan, self._draft) if plan else None
        better = verdict and plan and verdict.amount(self._amount, plan.loss.definition)
        return {
            "chosen_method": chosen,
            "verdict": verdict,
            "better_amount": better,
            "is_smallest": bool(plan and is_smallest(plan)),
            "chosen_title": method_title(self._draft.product, chosen) if chosen else "",
            "chosen_error": shown(self._planner.error_of(plan, self._draft)) if plan else None,
            "chosen_further_error": shown(self._planner.further_error_of(plan, self._draft))
            if plan
            else None,
            "chosen_offer": next((row for row in self._rows if row["mechanism"].name == chosen), None),
        }

    @property
    def plan_of_the_chosen(self) -> ReleasePlan | None:
        """That of the best method, where the choice is left to the portal."""
        return self._method_plans.get(self.chosen or "") or self._method_plans.get(self._best or "")

    @cached_property
    def _rows(self) -> list[Json]:
        return [self._row(offer) for offer in sorted(self._offers, key=_place(self._planner))]

    def _row(self, offer: Offer) -> Json:
        """A method with its plan and figures. unsuited: why it is not made for the columns; refusal: why no plan."""
        if offer.plan is None:
            return {"mechanism": offer.mechanism, "refusal": offer.refusal}
        return {
            "mechanism": offer.mechanism,
            "plan": offer.plan,
            "unsuited": "",
            **self._planner.offer(offer.plan, self._draft, list(self._method_plans.values())),
        }

    @cached_property
    def _method_plans(self) -> dict[str, ReleasePlan]:
        """The plans by method."""
        return {offer.mechanism.name: offer.plan for offer in self._offers if offer.plan}

    @cached_property
    def _unsuited(self) -> dict[str, str]:
        """Why a method is not made for the columns, by method; empty for one that is."""
        return {row["mechanism"].name: row["unsuited"] for row in self._rows if "plan" in row}

    @cached_property
    def _plans(self) -> dict[str, ReleasePlan]:
        """The plans of methods that are made for the columns, or of all if none is."""
        suited = {name: plan for name, plan in self._method_plans.items() if not self._unsuited[name]}
        return suited or self._method_plans

    @cached_property
    def _recommended(self) -> Recommendations:
        return self._planner.recommend(self._draft, self._plans) if self._plans else Recommendations([])

    @cached_property
    def _best(self) -> str | None:
        return self._planner.best_method(self._draft, self._plans) if self._plans else None

    def _noise_picture(self) -> Figure | None:
        picked = self.chosen if self.chosen in self._method_plans else next(iter(self._method_plans), None)
        row = next((row for row in self._rows if row["mechanism"].name == picked), {})
        draw: Callable[[], Figure | None] | None = row.get("noise_figure")
        return None if draw is None else draw()


def _place(planner: AnyPlanner) -> Callable[[Offer], tuple[float, ...]]:
    """The order of methods, by rank where that is theirs; those without a plan come last."""

    def place(offer: Offer) -> tuple[float, ...]:
        if offer.plan is None:
            return (math.inf,)
        return planner.rank(offer.plan) if planner.has_automatic else (0.0,)

    return place


def _is_suited(row: Json) -> bool:
    return bool(row.get("plan")) and not row["unsuited"]
