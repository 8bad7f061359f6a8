from django.apps import AppConfig
from django.conf import settings


class DatasetsConfig(AppConfig):
    name = "dpportal.datasets"

    def ready(self) -> None:
        """Whatever starts, a page included, refuses an origin to which no page could send."""
        from dpportal.accounts import bell
        from dpportal.approvals import acts

        # Models and jobs.
        from dpportal.datasets import (  # noqa: F401
            area_map,
            begun_uploads,
            domain_fit_job,
            import_job,
            keys,
            notifications,
            protection_change,
            receipts,
        )

        bell.add(notifications.news)
        acts.declare(protection_change.CHANGE)
        if settings.DIRECT_UPLOADS:
            from dpportal.platform.objects import multipart

            multipart.require_origin()
