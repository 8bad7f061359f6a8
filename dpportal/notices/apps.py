from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "dpportal.notices"

    def ready(self) -> None:
        from dpportal.jobs import claims
        from dpportal.notices import job_ends

        claims.ended.connect(job_ends.job_ended)
