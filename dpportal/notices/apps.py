from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "dpportal.notices"

    def ready(self) -> None:
        from dpportal.jobs import claims
        from dpportal.notices import job_ends

        claims.ended.connect(job_ends.job_ended)
        self._watch()

    def _watch(self) -> None:
        """Where programs are told of events."""
        from dpportal.history.watched import watch
        from dpportal.notices.models import AllowedHost, Webhook

        watch(Webhook, "person", "address", "kinds", "secret", "origin", "paused", "added_at")
        watch(AllowedHost, "host", "port", "plain", "private", "by", "at")
