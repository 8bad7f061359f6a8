"""Codes for the fields of a dimension that a table leaves empty: an observation names a value of each dimension.

Source: SDMX, Guidelines for the creation and management of SDMX code lists, whose generic codes these are; CL_SEX 2.1
has all three.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

UNKNOWN, NOT_APPLICABLE, TOTAL = "_U", "_Z", "_T"
TITLES = {UNKNOWN: "Unknown", NOT_APPLICABLE: "Not applicable", TOTAL: "Total"}
# Values of a column that such a code could be taken for.
ALIKE = re.compile(r"_+[UZT]")


@dataclass(frozen=True)
class EmptyFields:
    """What an empty field of a column stands for: `code`, but `other` in lines whose column `by` has one of `values`.

    code: "" in bundles of earlier versions, where they stay empty.
    """

    code: str = UNKNOWN
    other: str = ""
    by: str = ""
    values: frozenset[str] = frozenset()

    def without(self, own: Collection[str]) -> EmptyFields:
        """The same with codes that no value of the column is. own: those of its values that are alike."""
        return replace(self, code=_free(self.code, own), other=_free(self.other, own))

    def codes(self, values: Collection[str]) -> tuple[str, ...]:
        """The codes of a column that has these values, in their order; of empty fields, where there are some, last."""
        own = tuple(value for value in values if value)
        if len(own) == len(values):
            return own
        return (*own, *self.titles()) if self.code else ()

    def titles(self) -> dict[str, str]:
        """What the codes are called, by code."""
        return {code: TITLES[f"_{code[-1]}"] for code in (self.code, self.other) if code}


# Of whom or what, where there is one running count alone, of which no value is named.
LONE = EmptyFields(NOT_APPLICABLE)


def _free(code: str, own: Collection[str]) -> str:
    while code and code in own:
        code = f"_{code}"
    return code
