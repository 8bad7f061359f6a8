from django.urls import path

from dpportal.notices import views

app_name = "notices"

urlpatterns = [
    path("", views.page, name="page"),
    path("mail/", views.mail, name="mail"),
    path("webhooks/<uuid:webhook_id>/", views.webhook, name="webhook"),
    path("webhooks/<uuid:webhook_id>/test/", views.test, name="test"),
    path("webhooks/<uuid:webhook_id>/pause/", views.pause, name="pause"),
    path("webhooks/<uuid:webhook_id>/delete/", views.delete, name="delete"),
]
