from django.apps import AppConfig
from django.db.models.signals import pre_migrate


class JobsConfig(AppConfig):
    name = "dpportal.jobs"

    def ready(self) -> None:
        # A worker says that it is ready; what plans search for is a kind of job.
        from dpportal.jobs import (  # noqa: F401
            folder_transport,
            lock_timeouts,
            readiness,
            search_cache,
            worker_signals,
        )
        from dpportal.platform import sealing_faults, storage

        folder_transport.register()
        lock_timeouts.keep_to(lock_timeouts.COMMAND)
        pre_migrate.connect(lock_timeouts.spare_migrations, dispatch_uid="migrations are spared")
        readiness.checks.append(sealing_faults.obstacle)
        readiness.checks.append(storage.obstacle)
