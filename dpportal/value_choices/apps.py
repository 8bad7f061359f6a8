from django.apps import AppConfig


class ValueChoicesConfig(AppConfig):
    name = "dpportal.value_choices"

    def ready(self) -> None:
        from dpportal.budgets import continuing
        from dpportal.budgets.second_person import declare_performer
        from dpportal.datasets.services import erasing
        from dpportal.value_choices import execution, prices, second_person

        erasing.connect(execution.end_waiting, dispatch_uid="choices that wait end with the records")
        declare_performer(second_person.LABEL, second_person.perform)
        continuing.declare("values:choose", prices.is_open)
        self._watch()

    def _watch(self) -> None:
        """What was confirmed, paid and chosen."""
        from dpportal.history.watched import watch
        from dpportal.value_choices.models import ValueChoice

        confirmed = ("dataset", "column", "domain_version", "plan_json", "charge", "created_by", "created_at")
        watch(ValueChoice, *confirmed, "measured_at", "kept")
