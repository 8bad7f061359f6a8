"""What a workload asks, in words for readers: a phrase for each product of its text form."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import get_language, gettext as _

from dpportal.platform.listed_names import listed
from dpportal.platform.stored_texts import translated
from mechanisms.matrix.workload.notation import NotationPart, ProductTerm, parse
from mechanisms.matrix.workload.union import EVERYTHING

MOST_PHRASES = 6


def in_words(text: str, columns: list[str]) -> str:
    """The phrases, beginning with a capital; after a few it is said how many more there are.

    columns: those that the release is of, of which tables are if the text names none.
    """
    products = parse(text)
    phrases = [_of_product(product, columns) for product in products[:MOST_PHRASES]]
    more = len(products) - len(phrases)
    if more:
        phrases.append(_("%(count)d more") % {"count": more})
    phrase = "; ".join(phrases)
    # Where there are no capitals, a phrase may begin with a column's name, which stays as it is.
    return phrase[:1].upper() + phrase[1:] if get_language() == settings.LANGUAGE_CODE else phrase


def said(label: str) -> str:
    """A query as it is labelled, in the reader's language where the words are ours and not values of columns."""
    return translated(label) if label == EVERYTHING else label


def _of_product(product: ProductTerm, columns: list[str]) -> str:
    phrase = _(", combined with ").join(_of_part(part, columns) for part in product.parts)
    if product.weight == 1:
        return phrase
    return _("%(queries)s (weight %(weight)s)") % {
        "queries": phrase,
        "weight": f"{product.weight.normalize():f}",
    }


def _of_part(part: NotationPart, columns: list[str]) -> str:
    named = " × ".join(part.columns)
    if part.kind == "total":
        return _("all together")
    if part.kind == "marginals":
        return _marginals(part, columns)
    if part.kind == "uploaded":
        return (
            _("queries from a file, of %(column)s") % {"column": named} if named else _("queries from a file")
        )
    if part.kind == "width":
        cells = {"cells": f"{part.number:,}", "column": named}
        return _("every range of %(cells)s neighbouring cells of %(column)s") % cells
    phrases = {
        "identity": _("each cell of %(column)s"),
        "marginal": _("the table %(column)s"),
        "prefix": _("running totals of %(column)s"),
        "ranges": _("every range of %(column)s"),
    }
    return phrases[part.kind] % {"column": named}


def _marginals(part: NotationPart, columns: list[str]) -> str:
    values = {"number": part.number, "columns": listed(part.columns or columns)}
    exactly, at_most = (
        _("every table of %(number)d of %(columns)s"),
        _("every table of up to %(number)d of %(columns)s"),
    )
    return (exactly if part.exact else at_most) % values
