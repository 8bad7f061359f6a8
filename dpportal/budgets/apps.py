from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BudgetsConfig(AppConfig):
    name = "dpportal.budgets"
    verbose_name = _("Budgets")

    def ready(self) -> None:
        from dpportal.accounts import bell
        from dpportal.approvals import acts
        from dpportal.approvals.models import Approval
        from dpportal.budgets import (
            approved_grants,
            charge_journal,
            gone_questions,
            requests,
            second_person,
            triggers,
        )
        from dpportal.budgets.ledger_lines import LINE, SETTLED
        from dpportal.budgets.models import BudgetRequest
        from dpportal.datasets import gone_columns
        from dpportal.history import chain
        from dpportal.jobs import readiness

        bell.add(requests.news)
        readiness.checks.append(charge_journal.obstacle)
        triggers.GUARD.connect(self)
        chain.declare(LINE, SETTLED)
        acts.declare(second_person.SPEND)
        acts.declare(approved_grants.GRANT)
        gone_columns.declare(gone_questions.forget, BudgetRequest, Approval)
        self._watch()

    def _watch(self) -> None:
        """Whom an account protects, and what was asked for. Its amounts are what the lines of the ledger add up to."""
        from dpportal.budgets.models import Budget, BudgetRequest
        from dpportal.history.watched import watch

        protection = ("is_fixed", "neighbours", "unit_column", "ignore_case")
        watch(Budget, "dataset", "definition", "delta_exponent", *protection)
        fields = (
            "dataset",
            "by",
            "reason",
            "title",
            "amount",
            "delta",
            "definition",
            "margin",
            "address",
            "at",
        )
        watch(BudgetRequest, *fields, "state", "answer", "answered_at")
