"""What a method's rows can be relied on for, and which wishes it does not follow: for page, README and review."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mechanisms import registry
from mechanisms.microdata.features import FEATURES
from mechanisms.microdata.plan import MicrodataPlan

MEASURED_PAIRS = gettext_lazy(
    "Tables of one column and of the measured pairs are near to the truth. What three or more columns do together was "
    "not measured."
)
# By the method's name.
RELIED_ON = {
    "latent-classes": MEASURED_PAIRS,
    "tree-of-pairs": MEASURED_PAIRS,
    "clusters": gettext_lazy(
        "Tables of one column are near to the truth. Tables of several columns are right as far as the clusters tell "
        "people apart: each column was counted in each cluster, and within one columns are independent of each other."
    ),
    "principal-components": gettext_lazy(
        "Tables of one column are near to the truth. No pair was counted by itself: how numbers, dates and yes-or-no "
        "columns go together comes from noisy counts along a few directions through all of them, and is right as far "
        "as these directions show it. Every other column is independent of the rest in these rows."
    ),
    "private-partition": gettext_lazy(
        "Rows were counted in blocks of all columns at once, so tables of any columns are right as far as the blocks "
        "are small; within a block columns are independent of each other. Of many columns each is cut seldom or never."
    ),
    "dp-gan": gettext_lazy(
        "Only single columns were counted, and columns.csv has those counts. How columns go together is what a network "
        "learnt from noisy sums over all of them, and nothing tells how near to the truth that is."
    ),
    "independent-columns": gettext_lazy(
        "Tables of one column are near to the truth. In these rows no column tells anything of another, whatever is "
        "true: a table of two or more columns shows no dependence."
    ),
}


def relied_on(plan: MicrodataPlan) -> str:
    """What is near to the truth in the rows, and what was not measured."""
    return str(RELIED_ON[plan.mechanism])


def unheeded(plan: MicrodataPlan) -> str:
    """Which of the curator's wishes the method does not follow, in sentences; empty if it follows all."""
    wishes = plan.wishes
    said = {
        "target": (wishes.target, _("the target column")),
        "weights": (wishes.weights, _("weights of columns")),
        "pairs": (wishes.pairs, _("weights of pairs")),
    }
    heeds = registry.microdata(plan.mechanism).heeds
    unused = [wish for wish, (given, _label) in said.items() if given and wish not in heeds]
    sentences = []
    if "target" in unused and FEATURES in plan.shares:
        unused.remove("target")
        sentences.append(_("This method uses the target column only to choose columns."))
    if unused:
        names = ", ".join(said[wish][1] for wish in unused)
        sentences.append(_("This method does not use %(wishes)s.") % {"wishes": names})
    return " ".join(sentences)


def weighted(plan: MicrodataPlan) -> list[tuple[str, int]]:
    """The columns and pairs that have a weight, with it."""
    return [
        *plan.wishes.weights.items(),
        *((f"{first} × {second}", weight) for first, second, weight in plan.wishes.pairs),
    ]
