"""Up to where sums of answers and of cells are worked out while a page waits: their error takes all cells at once."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.releases.products.shared import explorer
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan

# Sets of columns that marginal tables may have.
MAX_TABLES = 2**14
# Answers among which some are added up.
MAX_ANSWERS = 2**19
# Cells whose inverse takes a twentieth of a second.
MAX_TIED = 2**10


def refusal(method: QueryMechanism, plan: QueryPlan) -> str:
    """Why no sum is worked out; empty if it is. It is estimated from all cells, or from those of marginal tables."""
    if isinstance(method, MatrixMechanism) and (tied := method.tied(plan.workload)) > MAX_TIED:
        text = _(
            "The margin of a sum depends on %(cells)s cells at once; sums are worked out here where that takes up to "
            "%(limit)s. Take the downloads: they have each answer with its margin."
        )
        return text % {"cells": f"{tied:,}", "limit": f"{MAX_TIED:,}"}
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
