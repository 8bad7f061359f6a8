from django.apps import AppConfig
from django.conf import settings


class DatasetsConfig(AppConfig):
    name = "dpportal.datasets"
    label = "datasets"

    def ready(self) -> None:
        """Whatever starts, a page included, refuses an origin to which no page could send."""
        from dpportal.datasets import news
        from dpportal.pages import bell

        bell.add(news.news)
        if settings.DIRECT_UPLOADS:
            from dpportal.objects import multipart

            multipart.require_origin()
