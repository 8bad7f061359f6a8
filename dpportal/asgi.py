"""The ASGI application that the web server serves."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")
django.setup(set_prefix=False)

from dpportal.jobs import lock_timeouts  # noqa: E402
from dpportal.platform import bulkhead  # noqa: E402
from dpportal.serving.admission import AdmissionControl  # noqa: E402
from dpportal.serving.handler import PortalHandler  # noqa: E402

lock_timeouts.keep_to(lock_timeouts.WEB)
for place in (bulkhead.MEMORY, bulkhead.STORE, bulkhead.SENDING, bulkhead.QUEUE, bulkhead.PROVIDER):
    place.close()
application = AdmissionControl(PortalHandler())
