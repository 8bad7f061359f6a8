from django.apps import AppConfig


class StreamsConfig(AppConfig):
    name = "dpportal.streams"
    label = "streams"
