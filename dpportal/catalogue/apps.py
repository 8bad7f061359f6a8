import gc

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "dpportal.catalogue"

    def ready(self) -> None:
        from dpportal.catalogue import bundle_checks, thumbnails  # noqa: F401 (kinds of jobs)

        # The last room: what `settings` put off begins.
        gc.freeze()
        gc.enable()
