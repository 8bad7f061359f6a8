"""What is wrong with a value that was sent, in the portal's own words: the framework's are English alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from dpportal.platform.listed_names import in_a_row

NO_SUCH_NAME = _("Nothing here has this name. Leave it out, or look up its name in the description.")
# By the framework's kind of error; the values are those that it gives with the error, by its names.
_TEXTS = {
    "value_error": "%(error)s",
    "missing": _("This is missing. Send a value for it."),
    "extra_forbidden": NO_SUCH_NAME,
    "string_unicode": _("Send a text without halves of characters (\\ud800 to \\udfff)."),
    "greater_than": _("Send a value above %(gt)s."),
    "greater_than_equal": _("Send a value of at least %(ge)s."),
    "less_than": _("Send a value below %(lt)s."),
    "less_than_equal": _("Send a value of at most %(le)s."),
    "string_too_long": _("Send at most %(max_length)s characters."),
    "string_too_short": _("Send at least %(min_length)s characters."),
    "too_long": _("Send at most %(max_length)s of them."),
    "too_short": _("Send at least %(min_length)s of them."),
    "literal_error": _("Send one of these: %(expected)s."),
    "enum": _("Send one of these: %(expected)s."),
    "int_parsing_size": _("Send a number with fewer digits."),
    "int_from_float": _("Send a whole number."),
    "finite_number": _("Send a number that is not infinite."),
    "decimal_max_digits": _("Send at most %(max_digits)s digits."),
    "decimal_max_places": _("Send at most %(decimal_places)s digits after the point."),
}
# By how the kind begins: “int_type”, “int_parsing”.
_OF_TYPES = {
    "string": _("Send a text."),
    "int": _("Send a whole number."),
    "float": _("Send a number."),
    "decimal": _("Send a number."),
    "bool": _("Send true or false."),
    "uuid": _("Send a UUID, such as “8e03978e-40d5-43dd-bc93-6894a57f9324”."),
    "list": _("Send a list."),
    "dict": _("Send an object with names and values."),
    "model": _("Send an object with names and values."),
    "date": _("Send a day, such as “2026-03-31”."),
    "datetime": _("Send a time, such as “2026-03-31T12:00:00Z”."),
}
_ENDINGS = ("type", "parsing", "attributes_type")


def field_error(error: Mapping[str, Any]) -> str:
    """What is wrong with a field. Where no text of ours is known, the framework's stays.

    error: its "type", the values "ctx" of that type, and the framework's sentence "msg".
    """
    kind, values = str(error["type"]), error.get("ctx") or {}
    begin, _underscore, end = kind.partition("_")
    text = _TEXTS.get(kind) or (_OF_TYPES.get(begin) if end in _ENDINGS else None)
    try:
        return str(error["msg"]) if text is None else str(text) % values
    except KeyError:
        return str(error["msg"])


def detail_of(errors: Mapping[str, Sequence[str]]) -> str:
    """What is wrong in all fields, one after the other."""
    return in_a_row(text for texts in errors.values() for text in texts)
