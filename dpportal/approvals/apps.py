from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "dpportal.approvals"

    def ready(self) -> None:
        from dpportal.accounts import bell
        from dpportal.approvals import services

        bell.add(services.news)
        self._watch()

    def _watch(self) -> None:
        """What was asked for, and what a second person said."""
        from dpportal.approvals.models import Approval
        from dpportal.history.watched import watch

        fields = ("kind", "subject", "arguments", "summary", "address", "by", "at", "expires_at")
        watch(Approval, *fields, "state", "answered_by", "answer", "answered_at")
