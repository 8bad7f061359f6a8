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
