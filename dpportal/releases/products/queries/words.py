"""What a workload asks, in words for readers: a phrase for each product of its text form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.translation import get_language, gettext as _

from dpportal.platform.listed_names import listed
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width
from mechanisms.matrix.workload.notation import NotationPart, ProductTerm, parse
from mechanisms.matrix.workload.union import EVERYTHING, Term

MOST_PHRASES = 6


def in_words(text: str, columns: Mapping[str, str]) -> str:
    """The phrases, beginning with a capital; after a few it is said how many more there are.

    columns: what readers call those that the release is of, by name; of them tables are if the text names none.
    """
    products = parse(text)
    phrases = [_of_product(product, columns) for product in products[:MOST_PHRASES]]
    more = len(products) - len(phrases)
    if more:
        phrases.append(_("%(count)d more") % {"count": more})
    return _begun("; ".join(phrases))


def _begun(phrase: str) -> str:
    """With a capital. Where there are none, a phrase may begin with a column's name, which stays as it is."""
    return phrase[:1].upper() + phrase[1:] if get_language() == settings.LANGUAGE_CODE else phrase


def term_in_words(term: Term, columns: Sequence[str]) -> str:
    """The same of one term, such as “Running totals of age”. columns: of its axes, one empty one for uploaded cells."""
    factors = {columns[axis]: f for axis, f in sorted(term.factors.items()) if not isinstance(f, Total)}
    if len(factors) > 1 and all(isinstance(factor, Identity) for factor in factors.values()):
        parts = [NotationPart("marginal", tuple(factors))]
    else:
        parts = [_part_of(factor, column) for column, factor in factors.items()] or [NotationPart("total")]
    return _begun(
        _(", combined with ").join(_of_part(part, {name: name for name in factors}) for part in parts)
    )


def _part_of(factor: Factor, column: str) -> NotationPart:
    if isinstance(factor, Width):
        return NotationPart("width", (column,), factor.width)
    kinds = {Identity: "identity", Prefix: "prefix", AllRange: "ranges", Explicit: "uploaded"}
    return NotationPart(kinds[type(factor)], (column,) if column else ())


def label_text(label: str) -> str:
    """A query as it is labelled, in the reader's language where the words are ours and not values of columns."""
    return _("all together") if label == EVERYTHING else label


def _of_product(product: ProductTerm, columns: Mapping[str, str]) -> str:
    phrase = _(", combined with ").join(_of_part(part, columns) for part in product.parts)
    if product.weight == 1:
        return phrase
    return _("%(queries)s (weight %(weight)s)") % {
        "queries": phrase,
        "weight": f"{product.weight.normalize():f}",
    }


def _of_part(part: NotationPart, columns: Mapping[str, str]) -> str:
    named = " × ".join(columns[name] for name in part.columns)
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


def _marginals(part: NotationPart, columns: Mapping[str, str]) -> str:
    values = {"number": part.number, "columns": listed([columns[name] for name in part.columns or columns])}
    exactly, at_most = (
        _("every table of %(number)d of %(columns)s"),
        _("every table of up to %(number)d of %(columns)s"),
    )
    return (exactly if part.exact else at_most) % values
