from django.apps import AppConfig


class BudgetsConfig(AppConfig):
    name = "dpportal.budgets"
    label = "budgets"

    def ready(self) -> None:
        from dpportal.budgets import asking
        from dpportal.pages import bell

        bell.add(asking.news)
