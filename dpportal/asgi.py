"""The ASGI application that the web server serves."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")
django.setup(set_prefix=False)

from dpportal import bulkhead  # noqa: E402
from dpportal.running import patience  # noqa: E402
from dpportal.serving.door import Door  # noqa: E402
from dpportal.serving.handler import PortalHandler  # noqa: E402

patience.keep_to(patience.WEB)
for place in (bulkhead.MEMORY, bulkhead.STORE):
    place.close()
application = Door(PortalHandler())
