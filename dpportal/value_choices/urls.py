from django.urls import path

from dpportal.value_choices import views

app_name = "values"

urlpatterns = [
    path("<uuid:dataset_id>/values/<int:position>/", views.choose, name="choose"),
    path("<uuid:dataset_id>/values/<int:position>/ask/", views.ask, name="ask"),
    path("<uuid:dataset_id>/values/<uuid:choice_id>/", views.chosen, name="chosen"),
    path("<uuid:dataset_id>/values/<uuid:choice_id>/progress/", views.progress, name="progress"),
]
