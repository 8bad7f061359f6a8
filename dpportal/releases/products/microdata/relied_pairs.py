"""What a method's rows can be relied on for, and which wishes it does not follow: for page, README and review."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_a_row, listed
from mechanisms import registry
from mechanisms.microdata.features import FEATURES
from mechanisms.microdata.pair_levels import PairLevels
from mechanisms.microdata.plan import MicrodataPlan


def relied_on(plan: MicrodataPlan, levels: PairLevels) -> str:
    """What is near to the truth in the rows, and what was not measured. levels: of measured pairs."""
    method = registry.microdata(plan.mechanism)
    return levels.sentence if method.measures_pairs else method.relied_on


def unheeded(plan: MicrodataPlan) -> str:
    """Which of the curator's wishes the method does not follow, in sentences; empty if it follows all."""
    wishes = plan.wishes
    wish_labels = {
        "target": (wishes.target, _("the target column")),
        "weights": (wishes.weights, _("weights of columns")),
        "pairs": (wishes.pairs, _("weights of pairs")),
    }
    heeds = registry.microdata(plan.mechanism).heeds
    unused = [wish for wish, (given, _label) in wish_labels.items() if given and wish not in heeds]
    sentences = []
    if "target" in unused and FEATURES in plan.shares:
        unused.remove("target")
        sentences.append(_("This method uses the target column only to choose columns."))
    if unused:
        names = listed(wish_labels[wish][1] for wish in unused)
        sentences.append(_("This method does not use %(wishes)s.") % {"wishes": names})
    return in_a_row(sentences)


def weighted(plan: MicrodataPlan) -> list[tuple[str, int]]:
    """The columns and pairs that have a weight, with it; by the names that readers see."""
    titles = plan.domain.titles
    return [
        *((titles[name], weight) for name, weight in plan.wishes.weights.items()),
        *((f"{titles[first]} × {titles[second]}", weight) for first, second, weight in plan.wishes.pairs),
    ]


def named(plan: MicrodataPlan) -> Json:
    """The target, the required pairs and what cannot occur together, by the names that readers see."""
    wishes, titles = plan.wishes, plan.domain.titles
    return {
        "target": titles.get(wishes.target, ""),
        "required": [[titles[name] for name in pair] for pair in wishes.required],
        "zeros": [[titles[a], x, titles[b], y] for a, x, b, y in wishes.zeros],
    }
