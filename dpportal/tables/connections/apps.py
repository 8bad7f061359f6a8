from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConnectionsConfig(AppConfig):
    name = "dpportal.tables.connections"
    verbose_name = _("Tables elsewhere")

    def ready(self) -> None:
        from dpportal.approvals import acts
        from dpportal.tables.connections import definition_change
        from dpportal.tables.engines import credentials

        acts.declare(definition_change.CHANGE)
        credentials.wrap_all()
        self._watch()

    def _watch(self) -> None:
        """Which databases are read, by whom, and what of them is counted."""
        from dpportal.history.watched import watch
        from dpportal.tables.connections.models import DEFINING, Connection, SharedTable

        server = ("name", "kind", "host", "port", "database", "user", "credential", "encryption")
        watch(Connection, *server, "seconds", "most_rows", "most_bytes", "all_curators", "curators")
        watch(SharedTable, "connection", "title", *DEFINING, "is_offered")
