"""What names a cell of a column must name one."""

from __future__ import annotations

from dpportal.datasets.labels import wrong_values
from dpportal.datasets.truths import is_read_so
from mechanisms.domain import Attribute, Boolean, Categorical, DomainError


def refuse_clash(attribute: Attribute) -> None:
    """Raise DomainError if two cells would be called alike."""
    if isinstance(attribute, Boolean) and not is_read_so(attribute):
        raise DomainError(f"{attribute.name}: no and yes are not read by these values. Choose categories.")
    if isinstance(attribute, Categorical):
        wrong = wrong_values(
            attribute, own_missing=attribute.missing is not None, is_open=not attribute.closed
        )
        if wrong:
            raise DomainError(f"{attribute.name}: {wrong}")
