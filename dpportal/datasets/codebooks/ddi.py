"""DDI Codebook (ddialliance.org, version 2): the variables of a survey with their categories and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.utils.translation import gettext as _

from dpportal.datasets.codebooks import ranges
from dpportal.datasets.codebooks.faults import CodebookError
from dpportal.datasets.codebooks.model import MISSING_CODES, categories, titled
from dpportal.platform.json_types import Json
from mechanisms.domain import MAX_SINGLE_VALUES
from mechanisms.number_text import number_written


def read(content: bytes) -> Json:
    """What is declared of each variable that has categories or a range. Raises CodebookError."""
    try:
        root = fromstring(content)
    except (ParseError, DefusedXmlException, ValueError):
        raise CodebookError(
            _("The codebook begins as XML, but cannot be read as such. Write it anew.")
        ) from None
    variables = {str(variable.get("name")): variable for variable in root.iterfind(".//{*}var")}
    entries = {name: (_entry(variable), _missing_codes(variable)) for name, variable in variables.items()}
    declared = {
        name: titled({**entry, MISSING_CODES: count}, _text(variables[name], "labl"))
        for name, (entry, count) in entries.items()
        if entry
    }
    if not declared:
        raise CodebookError(_("The codebook is XML without variables (“var”) as DDI Codebook has them."))
    return declared


def _entry(variable: Element) -> Json | None:
    listed = [category for category in variable.iterfind("{*}catgry") if not _is_missing(category)]
    pairs = [(_text(c, "catValu"), _text(c, "labl")) for c in listed]
    pairs = [(code, label) for code, label in pairs if code]
    if pairs and variable.get("intrvl") != "contin":
        return categories([code for code, _label in pairs], [label for _code, label in pairs])
    stated = variable.find("{*}valrng/{*}range")
    if stated is None:
        return None
    # A code without a label may be listed because the data hold it.
    return _range(stated.get("min"), stated.get("max"), [code for code, label in pairs if label])


def _is_missing(category: Element) -> bool:
    return category.get("missing", "N").upper() == "Y"


def _missing_codes(variable: Element) -> int:
    return sum(_is_missing(c) and bool(_text(c, "catValu")) for c in variable.iterfind("{*}catgry"))


def _text(parent: Element, name: str) -> str:
    return (parent.findtext(f"{{*}}{name}") or "").strip()


def _range(lower: str | None, upper: str | None, labelled: Sequence[str]) -> Json | None:
    """Bounds, and the codes within them that have a label on a continuous scale, such as 0 for none: single values."""
    if not (lower and upper):
        return None
    try:
        entry = ranges.integer(int(lower), int(upper))
    except ValueError:
        entry = ranges.real(float(lower), float(upper))
    number = type(entry["lower"])
    written = {code for code in map(number_written, labelled) if code is not None and number(code) == code}
    singles = sorted(number(code) for code in written if entry["lower"] <= code <= entry["upper"])
    return {**entry, "single_values": singles} if 0 < len(singles) <= MAX_SINGLE_VALUES else entry
