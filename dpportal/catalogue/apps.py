import gc

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "dpportal.catalogue"
    label = "catalogue"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from dpportal.catalogue import thumbnails  # noqa: F401 (a kind of job)

        # The last room: what `settings` put off begins.
        gc.freeze()
        gc.enable()
