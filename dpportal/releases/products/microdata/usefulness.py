"""Whether synthetic rows are of use, from the plan and the curator's number of people, and from the truth."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.publications.verdict import SHARES, Verdict, VerdictLevel, expected_text, level_of, percent
from dpportal.releases.products.microdata import means
from mechanisms import registry
from mechanisms.microdata.cost_estimate import expected_pair_error, foresee
from mechanisms.microdata.pair_levels import GOOD, ROUGH
from mechanisms.microdata.plan import MicrodataPlan


def expected(plan: MicrodataPlan, people: int) -> Verdict:
    """Before anything is spent, by the noise of single columns: without these no dependence is worth anything.

    Rows without any dependence are doubtful at best, whatever they cost; so are those whose measured pairs are expected
    to be mostly noise, and coarse at best those whose pairs are expected to be rough.
    """
    method, share = registry.microdata(plan.mechanism), foresee(plan, people).column
    level = level_of(share, SHARES)
    text = _("Noise is expected to put %(percent)s of the rows into a wrong cell of each single column.")
    if level is VerdictLevel.USELESS:
        text += " " + _("The rows would tell little more than the noise does.")
    sentence = text % {"percent": expected_text(share)}
    sentence += _of_means(plan, people)
    if not method.has_dependence:
        sentence += " " + _("They hold no dependence between columns, whatever they cost.")
        return Verdict(VerdictLevel.DOUBTFUL if level is VerdictLevel.USEFUL else level, sentence)
    of_pair = expected_pair_error(method, plan, people)
    if of_pair is not None and of_pair > GOOD:
        # No amount is proposed: with less noise pairs are measured over more groups.
        return Verdict(_with_pairs(level, of_pair), f"{sentence} {_of_pairs(of_pair)}")
    return Verdict(level, sentence, max(1.0, share / SHARES[0]))


def _with_pairs(level: VerdictLevel, share: float) -> VerdictLevel:
    """The level of columns, and no better than pairs that are rough or mostly noise."""
    best = VerdictLevel.COARSE if share <= ROUGH else VerdictLevel.DOUBTFUL
    return best if level is VerdictLevel.USEFUL else level


def _of_pairs(share: float) -> str:
    text = _("Measured pairs of columns will be rough: noise puts %(percent)s of the rows into a wrong cell.")
    if share > ROUGH:
        text = _(
            "Not good for how two columns go together: noise puts %(percent)s of the rows into a wrong cell of a "
            "measured pair."
        )
    return text % {"percent": expected_text(share)}


def _of_means(plan: MicrodataPlan, people: int) -> str:
    """What noise, and the declaration alone, can do to the mean that they move most; empty without numbers."""
    sentences = ""
    if worst := means.noise_in_words(plan, people)[:1]:
        sentences += " " + _("Noise can move a mean by up to %(error)s.") % {"error": worst[0]}
    if worst := means.bins_in_words(plan)[:1]:
        by_bins = _("By the bins alone a mean can be off by up to %(error)s, whatever the noise.")
        sentences += " " + by_bins % {"error": worst[0]}
    return sentences


def observed(comparison: Json) -> Verdict | None:
    """After measuring, from the tables of two columns. For the curator only."""
    pairs = [mean["synthetic"] for mean in comparison["means"] if mean["columns"] == 2]
    if not pairs:
        return None
    text = _("In a table of two columns %(percent)s of the rows are in the wrong cell, on average.")
    return Verdict(level_of(pairs[0], SHARES), text % {"percent": percent(pairs[0])})
