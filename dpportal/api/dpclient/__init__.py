"""A client of the portal's API: upload, plan, spend, wait, and read what is published as a table with margins."""

from .faults import PortalError
from .portal import Dataset, Portal, Release
from .published import Published, read
from .values import ValueChoice, ValuePlan
from .webhooks import verified

__all__ = [
    "Dataset",
    "Portal",
    "PortalError",
    "Published",
    "Release",
    "ValueChoice",
    "ValuePlan",
    "read",
    "verified",
]
