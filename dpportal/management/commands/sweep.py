"""`manage.py sweep`: on a site of several machines, one process that keeps sweeping."""

from __future__ import annotations

import logging
import time

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import Error, connection
from kombu.exceptions import OperationalError as QueueError

from dpportal.jobs import event_log, lock_timeouts
from dpportal.jobs.heartbeat import HeartbeatThread
from dpportal.jobs.models import Heartbeat
from dpportal.operations import sweeping
from dpportal.platform import bulkhead
from dpportal.platform.storage import StorageFault

FILES_FAULT = "Stored files could not be looked through, so that none of those that nobody needs is deleted."
log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Bring back lost jobs every few seconds and delete orphaned files every hour, until stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="sweep one time and end")

    def handle(self, *args: object, **options: object) -> None:
        files_swept, files_fault = float("-inf"), ""
        pulse = HeartbeatThread(Heartbeat.Kind.SWEEP)
        if not options["once"]:
            lock_timeouts.keep_to(lock_timeouts.of_jobs())
            bulkhead.MEMORY.close()  # a disk that hangs keeps no lost job from its next attempt
            connection.close()
        while True:
            try:
                sweeping.sweep_jobs()
                # Not from a thread of its own: it tells that a round was done, not that a process is there.
                if not options["once"]:
                    pulse.beat(files_fault)
                if time.monotonic() - files_swept > sweeping.FILES_EVERY_SECONDS:
                    files_fault = FILES_FAULT  # unless they are swept
                    if _has_swept_files():
                        files_swept, files_fault = time.monotonic(), ""
            except Error as error:
                if not lock_timeouts.is_unavailable(error):
                    raise
                log.warning("The database does not answer; sweeping again in a moment.")
                connection.close()
            except StorageFault:
                log.warning("The file storage does not answer; sweeping again in a moment.")
            except QueueError:
                log.warning("The queue does not answer; sweeping again in a moment.")
            if options["once"]:
                return
            time.sleep(settings.SWEEP_SECONDS)


def _has_swept_files() -> bool:
    """Whether that came to its end. Whatever else is wrong with a file, jobs are brought back all the same.

    A process that ended of it would be started again, and tell each time that all is well.
    """
    try:
        sweeping.sweep_files()
    except (Error, StorageFault, QueueError):
        raise
    except Exception as error:
        log.error("the sweep of files: %s", event_log.fault_of(error))
        return False
    return True
