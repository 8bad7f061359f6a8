"""Lines of the log name their time in UTC, to the millisecond, whatever the time zone of pages is."""

from __future__ import annotations

import logging
import time

from pythonjsonlogger.json import JsonFormatter


class _InUtc(logging.Formatter):
    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"


class LineFormatter(_InUtc):
    """One line of text."""


class ObjectFormatter(_InUtc, JsonFormatter):
    """One object of JSON."""
