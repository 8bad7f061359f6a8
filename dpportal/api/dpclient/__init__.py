"""A client of the portal's API: upload, plan, spend, wait, and read what is published as a table with margins."""

from .datasets import Dataset
from .faults import PortalError
from .portal import Portal
from .published import Published, read
from .releases import Release
from .running_counts import PeriodFile, RunningCount
from .values import ValueChoice, ValuePlan
from .webhooks import verified

__all__ = [
    "Dataset",
    "PeriodFile",
    "Portal",
    "PortalError",
    "Published",
    "Release",
    "RunningCount",
    "ValueChoice",
    "ValuePlan",
    "read",
    "verified",
]
