from django.apps import AppConfig


class ValueChoicesConfig(AppConfig):
    name = "dpportal.value_choices"

    def ready(self) -> None:
        from dpportal.value_choices import execution  # noqa: F401 (a kind of job)
