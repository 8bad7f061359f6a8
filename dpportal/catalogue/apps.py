import gc

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "dpportal.catalogue"

    def ready(self) -> None:
        from dpportal.catalogue import thumbnails  # noqa: F401 (a kind of job)

        # The last room: what `settings` put off begins.
        gc.freeze()
        gc.enable()
