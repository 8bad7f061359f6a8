"""Files of SPSS and Stata as codebooks: the labels of their values, read by ReadStat; no row of them is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks.faults import CodebookError
from dpportal.datasets.codebooks.model import MISSING_CODES, SPECIAL_VALUES, titled
from dpportal.platform.json_types import Json

if TYPE_CHECKING:
    from pyreadstat import metadata_container


@dataclass(frozen=True)
class Form:
    """A kind of file. beginnings: the first bytes of one. reader: the function of pyreadstat that reads it."""

    beginnings: tuple[bytes, ...]
    reader: str
    options: Mapping[str, bool]

    def is_one(self, content: bytes) -> bool:
        return content.startswith(self.beginnings)

    def read(self, content: bytes) -> Json:
        """What is declared of each variable whose values have labels, or which special ones a scale has.

        Raises CodebookError.
        """
        import pyreadstat  # takes 10 MB, which few of the portal's processes ever need

        # In memory, since such a file has people's rows as well, and the reader takes a path only.
        with os.fdopen(os.memfd_create("codebook"), "wb") as file:
            file.write(content)
            file.flush()
            try:
                read = getattr(pyreadstat, self.reader)
                _rows, about = read(f"/proc/self/fd/{file.fileno()}", metadataonly=True, **self.options)
            except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError):
                text = _("The file begins as one of SPSS or Stata, but cannot be read. Save it anew.")
                raise CodebookError(text) from None
        return _labelled(about)


def _labelled(about: metadata_container) -> Json:
    """Variables on a scale have labels for a few special values only, and are no list; missing ones are left out."""
    absent = {name: _is_missing(ranges) for name, ranges in (about.missing_ranges or {}).items()}
    entries = {}
    for name, labels in about.variable_value_labels.items():
        missing = absent.get(name, _is_never_missing)
        present = {_written(value): str(word).strip() for value, word in labels.items() if not missing(value)}
        is_scale = about.variable_measure.get(name) == "scale"
        if present:
            entry = {SPECIAL_VALUES: list(present)} if is_scale else _entry(present)
            counted = {**entry, MISSING_CODES: len(labels) - len(present)}
            entries[name] = titled(counted, about.column_names_to_labels.get(name))
    if not entries:
        raise CodebookError(_("No variable of the file has labels for its values, so it says nothing here."))
    return entries


def _entry(labels: dict[str, str]) -> Json:
    words = [word or value for value, word in labels.items()]
    numbers = all(value.lstrip("-").replace(".", "", 1).isdigit() for value in labels)
    return {"kind": "categorical", "values": list(labels), "words": words, "as_numbers": numbers}


def _is_never_missing(_value: str | float) -> bool:
    return False


def _is_missing(ranges: Sequence[Any]) -> Callable[[str | float], bool]:
    def within(value: str | float) -> bool:
        return any(
            isinstance(value, str) == isinstance(r["lo"], str) and r["lo"] <= value <= r["hi"] for r in ranges
        )

    return within


def _written(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# Stata: versions 5 to 12 begin with their number, an order of bytes and a 1; later ones with a tag.
STATA = (
    b"<stata_dta>",
    *(bytes([n, order, 1]) for n in (105, 108, 110, 111, 113, 114, 115) for order in (1, 2)),
)
FORMS = (
    Form((b"$FL2", b"$FL3"), "read_sav", {"user_missing": True}),
    Form(STATA, "read_dta", {}),
)
