from django.urls import path

from dpportal.api import views

app_name = "tokens"

urlpatterns = [
    path("", views.own_tokens, name="list"),
    path("<uuid:token_id>/revoke/", views.revoke, name="revoke"),
]
