from django.apps import AppConfig


class RunningConfig(AppConfig):
    name = "dpportal.running"
    label = "running"

    def ready(self) -> None:
        # A worker says that it is ready; what plans search for has a model and a task.
        from dpportal import storage
        from dpportal.running import folder, readiness, worker, workings  # noqa: F401

        folder.register()
        readiness.checks.append(storage.obstacle)
