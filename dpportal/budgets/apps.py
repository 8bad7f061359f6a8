from django.apps import AppConfig


class BudgetsConfig(AppConfig):
    name = "dpportal.budgets"
    label = "budgets"
