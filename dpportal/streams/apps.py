from django.apps import AppConfig


class StreamsConfig(AppConfig):
    name = "dpportal.streams"

    def ready(self) -> None:
        from dpportal.datasets.services import erasing
        from dpportal.streams import downloads, job_execution  # noqa: F401 (two kinds of job)
        from dpportal.streams.services import forget

        erasing.connect(forget, dispatch_uid="streams forget what is erased")
