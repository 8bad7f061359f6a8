"""Whether a published count may be corrected by a later one, in words: what was paid for decides."""

from __future__ import annotations

from django.utils.translation import gettext as _

from mechanisms.accounting import Loss
from mechanisms.continual.strategy import covers_corrections


def rule(loss: Loss) -> str:
    """What a curator does who counted too much. loss: of the stream."""
    if covers_corrections(loss):
        return _(
            "To correct what was counted too much, lower a later period. A correction is one more of that person's "
            "rows: rows and corrections together are at most %(rows)s for each person in the whole stream."
        ) % {"rows": f"{loss.unit.max_rows:,}"}
    return _(
        "Overcounts cannot be corrected later; that would reveal more than this running count's budget allows."
    )
