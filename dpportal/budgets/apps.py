from django.apps import AppConfig


class BudgetsConfig(AppConfig):
    name = "dpportal.budgets"

    def ready(self) -> None:
        from dpportal.accounts import bell
        from dpportal.approvals import acts
        from dpportal.budgets import approved_grants, charge_journal, requests, second_person, triggers
        from dpportal.budgets.ledger_lines import LINE, SETTLED
        from dpportal.history import chain
        from dpportal.jobs import readiness

        bell.add(requests.news)
        readiness.checks.append(charge_journal.obstacle)
        triggers.GUARD.connect(self)
        chain.declare(LINE, SETTLED)
        acts.declare(second_person.SPEND)
        acts.declare(approved_grants.GRANT)
