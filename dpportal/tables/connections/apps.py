from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConnectionsConfig(AppConfig):
    name = "dpportal.tables.connections"
    verbose_name = _("Tables elsewhere")

    def ready(self) -> None:
        from dpportal.approvals import acts
        from dpportal.tables.connections import definition_change

        acts.declare(definition_change.CHANGE)
