"""The folders that the portal has in its file storage; in a bucket, other programs may have others beside them."""

from __future__ import annotations

from dpportal.catalogue import bundle_checks
from dpportal.releases.products.queries import matrices, strategies
from dpportal.streams import downloads

# `uploads` was an earlier version's.
STORED = frozenset(
    {downloads.FOLDER, bundle_checks.FOLDER, matrices.FOLDER, strategies.FOLDER}
    | {"records", "releases", "uploads"}
)
