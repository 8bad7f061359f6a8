from django.apps import AppConfig


class HistoryConfig(AppConfig):
    name = "dpportal.history"

    def ready(self) -> None:
        from dpportal.history import chain, eras, imprints, triggers

        triggers.GUARD.connect(self)
        chain.declare(imprints.LINE, eras.LINE)
