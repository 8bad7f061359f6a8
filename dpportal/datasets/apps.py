from django.apps import AppConfig
from django.conf import settings


class DatasetsConfig(AppConfig):
    name = "dpportal.datasets"

    def ready(self) -> None:
        """Whatever starts, a page included, refuses an origin to which no page could send."""
        from dpportal.accounts import bell
        from dpportal.approvals import acts
        from dpportal.datasets import area_map, domain_fit_job, import_job, notifications, protection_change  # noqa: F401 (a model, jobs)

        bell.add(notifications.news)
        acts.declare(protection_change.CHANGE)
        if settings.DIRECT_UPLOADS:
            from dpportal.platform.objects import multipart

            multipart.require_origin()
