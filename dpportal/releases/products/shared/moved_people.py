"""Whether adjusted counts are of use, by how many people they put into another cell."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from dpportal.publications.verdict import SHARES, Verdict, level_of, percent


def moved_verdict(errors: Mapping[str, Mapping[str, float]]) -> Verdict:
    """After measuring, from the errors of the counts that everyone downloads. For the curator only."""
    share = min(1.0, errors["total_variation"]["counts"])
    text = _("The adjusted counts have %(percent)s in the wrong cell.")
    return Verdict(level_of(share, SHARES), text % {"percent": percent(share)})
