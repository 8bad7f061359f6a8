"""What a release is called unless its curator says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from django.utils.text import capfirst
from django.utils.translation import gettext as _, ngettext

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_sentence, listed
from mechanisms.domain import Domain
from mechanisms.matrix.workload.notation import parse
from mechanisms.protocol import PlanError
from mechanisms.selection import BestOption, FewestConflicts, MostCommonValue, Quantile

LONGEST = 160
# A proposed title names so many columns at most, and so many letters of them; of others how many they are.
NAMED_COLUMNS, NAMED_LETTERS = 4, 70
# Of more the first ones are named; where all of them are listed, so many.
FIRST_COLUMNS, MOST_LISTED = 2, 60


def proposed(
    product: str,
    columns: Sequence[str],
    parameters: Json,
    counted: str,
    own: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """What is published, as a reader says it: of which columns, or of how many. counted: what counts are counts of.

    own: titles that columns were declared with, by name.
    """
    question = parameters.get("question", product)
    words = {**read_aloud(columns), **own}
    title = _question_text(
        question, _spoken(list(words.values()), _worded(parameters, words)), parameters, counted
    )
    return _cut(title)


def _cut(title: str) -> str:
    """A title of at most LONGEST letters: a longer one ends after a word, or within one that takes half of it."""
    if len(title) <= LONGEST:
        return title
    begun = title[: LONGEST - 1]
    words = begun.rpartition(" ")[0].rstrip(" ,;:.")
    return f"{words if len(words) > LONGEST / 2 else begun}…"


def read_aloud(columns: Sequence[str]) -> dict[str, str]:
    """How a reader says the names of columns, by name: with blanks.

    “Person: Sex”, of two lines of names that were joined, stays that: tables and files call it so, and of “Admission:
    type” the last line alone would not say of what.
    """
    return {name: name.replace("_", " ") for name in columns}


def spoken(domain: Domain) -> Domain:
    """The same columns under the names that a reader says, for sentences and charts; files have the table's own."""
    names = read_aloud(domain.shown_names)
    attributes = (replace(a, title=names[a.shown_name]) for a in domain.attributes)
    return replace(domain, attributes=tuple(attributes))


def _worded(parameters: Json, words: Mapping[str, str]) -> Json:
    """The same with the names of columns as they are read aloud."""
    measured, group = parameters.get("measured"), parameters.get("group")
    names = {"measured": [words.get(name, name) for name in measured]} if measured else {}
    return {**parameters, **names, **({"group": words.get(group, group)} if group else {})}


def _spoken(columns: Sequence[str], parameters: Json) -> str:
    """The columns as they are read aloud, where they are neither grouped nor chosen among."""
    if parameters.keys() & {"measured", "group", "question"}:
        return named(columns, parameters)
    return _first_and_more(columns)


def _first_and_more(columns: Sequence[str], between: str = "") -> str:
    """“age, sex and 6 more columns”; all where they are few and short, with `between` or as a sentence has them."""
    if len(columns) <= NAMED_COLUMNS and len("  ".join(columns)) <= NAMED_LETTERS:
        return between.join(columns) if between or not columns else in_sentence(columns)
    two_fit = len(columns) > FIRST_COLUMNS and len("  ".join(columns[:FIRST_COLUMNS])) <= NAMED_LETTERS
    first = columns[: FIRST_COLUMNS if two_fit else 1]
    more = len(columns) - len(first)
    text = ngettext("%(columns)s and %(number)d more column", "%(columns)s and %(number)d more columns", more)
    return text % {"columns": listed(first), "number": more} if more else listed(first)


def all_named(columns: Sequence[str], own: Mapping[str, str]) -> str:
    """All columns as they are read aloud; after very many there are dots."""
    words = list({**read_aloud(columns), **own}.values())
    return listed([*words[:MOST_LISTED], *(["…"] if len(words) > MOST_LISTED else [])])


def worded(columns: Sequence[str], parameters: Json, own: Mapping[str, str]) -> str:
    """The columns as `named` has them, as they are read aloud. own: titles that some were declared with, by name."""
    words = {**read_aloud(columns), **own}
    return named([words[name] for name in columns], _worded(parameters, words))


def named(columns: Sequence[str], parameters: Json) -> str:
    """The columns as they are counted together or chosen among; of many, or of long ones, how many they are."""
    if measured := parameters.get("measured"):
        return _by_groups(measured, [name for name in columns if name not in measured])
    if group := parameters.get("group"):
        return _by_groups([name for name in columns if name != group], [group])
    options = parameters.get("question", "") in (BestOption.kind, FewestConflicts.kind)
    if not 0 < len(columns) <= NAMED_COLUMNS:
        return _("%(number)s columns") % {"number": len(columns)}
    return _first_and_more(columns, " / " if options else " × ")


def _by_groups(measured: Sequence[str], groups: Sequence[str]) -> str:
    """Measured columns, and by which others."""
    texts = {"measured": _first_and_more(measured)}
    if not groups:
        return texts["measured"]
    return _("%(measured)s by %(groups)s") % {**texts, "groups": named(groups, {})}


def _question_text(question: str, columns: str, parameters: Json, counted: str) -> str:
    """What is published, with the names of its columns."""
    texts = {
        "histogram": _("%(counted)s by %(columns)s"),
        "microdata": _("Synthetic table of %(columns)s"),
        "queries": _workload_text(parameters.get("workload", "")),
        "response": _("Randomised answers on %(columns)s"),
        "selection": _("Private choice of %(columns)s"),
        "means": _("Mean of %(columns)s"),
        "summary": _("Summary of %(columns)s"),
        Quantile.kind: _("Quantile %(level)s of %(columns)s"),
        MostCommonValue.kind: _("Most common value of %(columns)s"),
        BestOption.kind: _("Best of %(columns)s"),
        FewestConflicts.kind: _("Fewest conflicts of %(columns)s"),
    }
    level = Fraction(parameters.get("level", "1/2"))
    if question == Quantile.kind and level == Fraction(1, 2):
        return _("Median of %(columns)s") % {"columns": columns}
    return texts[question] % {
        "columns": columns,
        "level": f"{float(level):g}",
        "counted": capfirst(counted),
    }


def _workload_text(workload: str) -> str:
    """What a workload asks: ranges or running totals, where that is all; tables; or what a file says."""
    try:
        products = parse(workload)
    except PlanError:
        return _("Answers on %(columns)s")
    kinds = {part.kind for product in products for part in product.parts}
    if "uploaded" in kinds:
        return _("Answers on %(columns)s")
    if len(products) == 1 and kinds & {"ranges", "width"}:
        return _("%(counted)s by ranges of %(columns)s")
    if len(products) == 1 and "prefix" in kinds:
        return _("%(counted)s by %(columns)s, running totals")
    return _("%(counted)s by %(columns)s")
