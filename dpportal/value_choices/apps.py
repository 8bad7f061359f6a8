from django.apps import AppConfig


class ValueChoicesConfig(AppConfig):
    name = "dpportal.value_choices"

    def ready(self) -> None:
        from dpportal.budgets.second_person import declare_performer
        from dpportal.value_choices import execution, second_person  # noqa: F401 (a kind of job)

        declare_performer(second_person.LABEL, second_person.perform)
