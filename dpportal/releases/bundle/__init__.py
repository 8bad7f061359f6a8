"""What a download holds. The same measurement always gives the same bytes."""

from dpportal.releases.bundle.archive import write

__all__ = ["write"]
