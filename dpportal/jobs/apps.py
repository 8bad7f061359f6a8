from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "dpportal.jobs"

    def ready(self) -> None:
        # A worker says that it is ready; what plans search for is a kind of job.
        from dpportal.jobs import folder_transport, readiness, search_cache, worker_signals  # noqa: F401
        from dpportal.platform import sealing_faults, storage

        folder_transport.register()
        readiness.checks.append(sealing_faults.obstacle)
        readiness.checks.append(storage.obstacle)
