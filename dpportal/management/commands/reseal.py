"""`manage.py reseal`: seal everything anew with the key that the portal has now."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dpportal.operations import reseal
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.keys import UnsealError
from dpportal.platform.storage import StorageFault


class Command(BaseCommand):
    help = "Seal anew, with the key that the portal has now, whatever former keys sealed."

    def handle(self, *args: object, **options: object) -> None:
        try:
            done = reseal.reseal()
        except (UnsealError, MemoryFaultError, StorageFault) as fault:
            raise CommandError(
                f"Something is {fault}. Add the key that is missing to keys/stream_key.old (DPPORTAL_STREAM_KEY_OLD), "
                "or beside the master key (DPPORTAL_MASTER_KEY_OLD), and run this again; what is sealed anew stays so."
            ) from None
        for kind, number in sorted(done.items()):
            self.stdout.write(f"{number:>8,}  {kind}")
        self.stdout.write(
            f"{done.total():,} sealed anew; all is sealed with the key {settings.STREAM_KEYS.current}."
        )
