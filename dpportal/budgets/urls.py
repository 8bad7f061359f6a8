from django.urls import path

from dpportal.budgets import views

app_name = "budgets"

urlpatterns = [
    path("<uuid:dataset_id>/ledger/", views.ledger_page, name="ledger"),
    path("<uuid:dataset_id>/ledger.csv", views.ledger_csv, name="ledger_csv"),
    path("<uuid:dataset_id>/budget/ask/", views.ask, name="ask"),
]
