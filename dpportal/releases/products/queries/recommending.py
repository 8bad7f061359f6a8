"""Which strategy to take for a workload."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from dpportal.platform.stored_texts import translated
from dpportal.publications.verdict import rounded
from dpportal.releases.products.shared.planner import AUTOMATIC, AUTOMATIC_TITLE
from dpportal.releases.products.shared.recommendation import Recommendation
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan

# The cells themselves are the simplest to explain, which is worth so much more error.
WORTH = 1.5


def recommendations(
    methods: Mapping[str, QueryMechanism], plans: Mapping[str, QueryPlan]
) -> list[Recommendation]:
    """Whichever is best in the end, the best one now, and the cells themselves where they are hardly worse."""
    best = min(plans, key=lambda name: plans[name].total_error)
    error = plans[best].root_mean_error
    recommended = [
        Recommendation(
            AUTOMATIC,
            str(AUTOMATIC_TITLE),
            _("Whichever has the smallest margin when you confirm; now that is %(title)s.")
            % {"title": translated(methods[best].title)},
            _figure(plans[best]),
        ),
        Recommendation(
            best, methods[best].title, _("The smallest error of all methods now."), _figure(plans[best])
        ),
    ]
    plain = next((name for name in plans if methods[name].is_plain), best)
    if plain != best and plans[plain].root_mean_error <= WORTH * error:
        why = _("Counts each cell by itself: the simplest to explain, with %(ratio)s times the least error.")
        ratio = f"{plans[plain].root_mean_error / error:.2f}"
        recommended.append(
            Recommendation(plain, methods[plain].title, why % {"ratio": ratio}, _figure(plans[plain]))
        )
    return recommended


def _figure(plan: QueryPlan) -> str:
    return _("an answer ± %(half)s") % {"half": rounded(1.96 * plan.root_mean_error)}
