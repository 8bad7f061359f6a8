"""The only door to uploaded records: nothing else in the portal reads a table's rows.

Nothing here knows Django; every function takes a local path.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from dpportal.tables.facts import Column, FileLook, TableFacts
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.import_process import ImportContext, convert, look
from dpportal.tables.meaning.parse_options import Limits, ReadOptions
from dpportal.tables.meaning.value_texts import ValueTexts
from dpportal.tables.persons import Persons
from dpportal.tables.preview import first_rows

if TYPE_CHECKING:
    from dpportal.tables.counting import count_cells, count_tables, packed_rows
    from dpportal.tables.fitting import fit_table
    from dpportal.tables.sampling import sample_cells
    from dpportal.tables.suggestions import suggest
    from dpportal.tables.summing import power_sums
    from dpportal.tables.undeclared_values import people_by_value

# Functions that read by the declared meaning are loaded by jobs, not when the portal starts: SQLGlot takes a fifth
# of a second and 16 MB.
LAZY = {
    "count_cells": "counting",
    "count_tables": "counting",
    "packed_rows": "counting",
    "power_sums": "summing",
    "people_by_value": "undeclared_values",
    "fit_table": "fitting",
    "sample_cells": "sampling",
    "suggest": "suggestions",
}

__all__ = [
    "Column",
    "FileLook",
    "ImportContext",
    "Limits",
    "Persons",
    "ReadOptions",
    "TableFacts",
    "UploadFault",
    "ValueTexts",
    "convert",
    "count_cells",
    "count_tables",
    "first_rows",
    "fit_table",
    "look",
    "packed_rows",
    "people_by_value",
    "power_sums",
    "sample_cells",
    "suggest",
]


def __getattr__(name: str) -> object:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LAZY[name]}"), name)
