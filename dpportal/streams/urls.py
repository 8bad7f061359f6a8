from django.urls import path

from dpportal.streams import api

app_name = "streams"

urlpatterns = [
    path("<uuid:stream_id>/periods", api.periods, name="periods"),
]
