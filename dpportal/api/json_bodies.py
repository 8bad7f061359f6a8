"""The body of a request, read as the description says: as JSON, with each name once."""

from __future__ import annotations

import re
from typing import cast

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.parser import Parser
from ninja.types import DictStrAny

from dpportal.api.problems import RefusedError
from dpportal.platform import strict_json

_JSON = re.compile(r"application/(json|[\w.+-]+\+json)", re.ASCII | re.IGNORECASE)
LONGEST_NAME = 80


class JsonBodies(Parser):
    """Reads bodies for the framework, which hands on what is refused here as the cause of its own error."""

    def parse_body(self, request: HttpRequest) -> DictStrAny:
        """What was sent. Raises RefusedError: 415 for another type than JSON, 400 for what is read in no one way."""
        if not _JSON.fullmatch(request.content_type or ""):
            text = _("Send the body as application/json, and say so in the header “Content-Type”.")
            raise RefusedError(415, text)
        try:
            return cast(DictStrAny, strict_json.read(request.body))
        except strict_json.DoubledNameError as doubled:
            text = _("“%(name)s” stands twice in one object of the body. Send it once.")
            raise RefusedError(400, text % {"name": doubled.name[:LONGEST_NAME]}) from None
        except strict_json.LongNumberError:
            text = _("A number of the body has more than %(digits)s digits. Send a smaller one.")
            raise RefusedError(400, text % {"digits": strict_json.MOST_DIGITS}) from None
