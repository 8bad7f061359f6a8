from collections.abc import Collection

from django.apps import AppConfig, apps
from django.db.migrations import Migration
from django.db.models.signals import post_migrate
from django.utils.translation import gettext

from dpportal.celery import app as celery_app  # noqa: F401 (what is sent goes by it; a process that reads files has none)
from dpportal.platform.generic_classes import make_subscriptable
from mechanisms import refusal
from mechanisms.noise import guard

# Before any room's models and forms are read.
make_subscriptable()


class PortalConfig(AppConfig):
    name = "dpportal"

    def ready(self) -> None:
        guard.close()
        refusal.look_up_by(gettext)
        _note_own_texts()
        # The last room's tables are there when all are.
        last = apps.get_app_config("streams")
        post_migrate.connect(_begin_memory, sender=last, dispatch_uid="a database goes with a memory")
        post_migrate.connect(_begin_history, sender=last, dispatch_uid="what was written is in the history")


def _note_own_texts() -> None:
    from dpportal.operations import own_texts

    own_texts.watch_all()


def _begin_memory(**_: object) -> None:
    from dpportal.operations import restore_check

    restore_check.begin()


def _begin_history(plan: Collection[tuple[Migration, bool]] = (), **_: object) -> None:
    """plan: the migrations that ran, and whether each was taken back; then the tables of a room may be gone."""
    if any(is_taken_back for _migration, is_taken_back in plan):
        return
    from dpportal.history import eras

    eras.begin()
