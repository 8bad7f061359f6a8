"""Settings of portals that tests start as processes: the portal's own, with cheap passwords and a queue apart."""

import os

from dpportal.settings import *  # noqa: F403
from dpportal.settings import CELERY_BROKER_TRANSPORT_OPTIONS

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if "TEST_QUEUE_PREFIX" in os.environ:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        **CELERY_BROKER_TRANSPORT_OPTIONS,
        "global_keyprefix": os.environ["TEST_QUEUE_PREFIX"],
    }
if "TEST_QUEUE_SECONDS" in os.environ:
    # As long as the portal waits for a silent server at all, it is so long.
    waits = [name for name in CELERY_BROKER_TRANSPORT_OPTIONS if name.startswith("socket_")]
    seconds = float(os.environ["TEST_QUEUE_SECONDS"])
    CELERY_BROKER_TRANSPORT_OPTIONS = {**CELERY_BROKER_TRANSPORT_OPTIONS, **dict.fromkeys(waits, seconds)}
