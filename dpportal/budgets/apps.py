from django.apps import AppConfig


class BudgetsConfig(AppConfig):
    name = "dpportal.budgets"
    label = "budgets"

    def ready(self) -> None:
        from dpportal.budgets import asking, remembered
        from dpportal.pages import bell
        from dpportal.running import readiness

        bell.add(asking.news)
        readiness.checks.append(remembered.obstacle)
