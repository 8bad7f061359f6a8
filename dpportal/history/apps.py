from django.apps import AppConfig


class HistoryConfig(AppConfig):
    name = "dpportal.history"

    def ready(self) -> None:
        from dpportal.history import triggers

        triggers.GUARD.connect(self)
