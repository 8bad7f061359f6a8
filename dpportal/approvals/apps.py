from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "dpportal.approvals"

    def ready(self) -> None:
        from dpportal.accounts import bell
        from dpportal.approvals import services

        bell.add(services.news)
