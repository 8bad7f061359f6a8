"""Up to where sums of answers and of cells are worked out while a page waits: their error takes all cells at once."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.releases.products.shared import explorer
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan

# Sets of columns that marginal tables may have.
MAX_TABLES = 2**14
# Answers among which some are added up.
MAX_ANSWERS = 2**19


def refusal(method: QueryMechanism, plan: QueryPlan) -> str:
    """Why no sum is worked out; empty if it is. It is estimated from all cells, or from those of marginal tables."""
    if not isinstance(method, MarginalMechanism):
        return explorer.refusal(plan.domain.size, explorer.MAX_ESTIMATED_CELLS)
    tables = sum(2 ** len(term.factors) for term in plan.workload.terms)
    if tables > MAX_TABLES:
        text = _(
            "The tables of this release have %(tables)s parts; sums are worked out here of up to %(limit)s."
        )
        return text % {"tables": f"{tables:,}", "limit": f"{MAX_TABLES:,}"}
    return explorer.refusal(method.measured(plan).size, explorer.MAX_CELLS)


def refusal_of_answers(method: QueryMechanism, plan: QueryPlan) -> str:
    """Why answers are not added up; empty if they are."""
    if isinstance(method, MarginalMechanism) or plan.workload.queries <= MAX_ANSWERS:
        return refusal(method, plan)
    text = _("Answers are added up here where there are up to %(limit)s; this release has %(answers)s.")
    return text % {"limit": f"{MAX_ANSWERS:,}", "answers": f"{plan.workload.queries:,}"}
