from django.apps import AppConfig


class RunningConfig(AppConfig):
    name = "dpportal.running"
    label = "running"

    def ready(self) -> None:
        from dpportal.running import folder, worker  # noqa: F401 (a worker says that it is ready)

        folder.register()
