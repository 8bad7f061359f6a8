from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class BudgetsConfig(AppConfig):
    name = "dpportal.budgets"

    def ready(self) -> None:
        from dpportal.accounts import bell
        from dpportal.budgets import charge_journal, requests, triggers
        from dpportal.jobs import readiness

        bell.add(requests.news)
        readiness.checks.append(charge_journal.obstacle)
        pre_migrate.connect(triggers.make_way, sender=self)
        post_migrate.connect(triggers.install, sender=self)
