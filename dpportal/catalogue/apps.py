import gc

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "dpportal.catalogue"

    def ready(self) -> None:
        from dpportal.catalogue import bundle_checks, thumbnails  # noqa: F401 (kinds of jobs)
        from dpportal.platform.admin_labels import translate_admin_labels

        translate_admin_labels()

        # The last room: what `settings` put off begins.
        gc.freeze()
        gc.enable()
