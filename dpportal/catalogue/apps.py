import gc

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "dpportal.catalogue"

    def ready(self) -> None:
        from django.db.models.signals import post_delete, post_save

        from dpportal.catalogue import bundle_checks, thumbnails  # noqa: F401 (a kind of jobs)
        from dpportal.datasets.area_map import AreaMap
        from dpportal.platform.admin_labels import translate_admin_labels
        from dpportal.publications.publishing import published

        translate_admin_labels()
        published.connect(thumbnails.ask_for)
        for changed in (post_save, post_delete):
            changed.connect(thumbnails.forget_of, sender=AreaMap)

        # The last room: what `settings` put off begins.
        gc.freeze()
        gc.enable()
