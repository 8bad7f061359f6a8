"""The only door to uploaded records: nothing else in the portal reads a table's rows.

Nothing here knows Django; every function takes a local path.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpportal.datasets.rawdata.conversion import convert
from dpportal.datasets.rawdata.faults import UploadFault
from dpportal.datasets.rawdata.options import Limits, ReadOptions
from dpportal.datasets.rawdata.persons import Persons
from dpportal.datasets.rawdata.preview import first_rows
from dpportal.datasets.rawdata.table import Column, TableFacts

if TYPE_CHECKING:
    from dpportal.datasets.rawdata.counting import count_cells, count_tables, packed_rows
    from dpportal.datasets.rawdata.fitting import fit_table
    from dpportal.datasets.rawdata.sampling import sample_cells
    from dpportal.datasets.rawdata.suggestions import suggest

# What reads by the declared meaning is loaded by the jobs that do, and not when the portal starts: SQLGlot takes a
# fifth of a second and 16 MB.
LATER = {
    "count_cells": "counting",
    "count_tables": "counting",
    "packed_rows": "counting",
    "fit_table": "fitting",
    "sample_cells": "sampling",
    "suggest": "suggestions",
}

__all__ = [
    "Column",
    "Limits",
    "Persons",
    "ReadOptions",
    "TableFacts",
    "UploadFault",
    "convert",
    "count_cells",
    "count_tables",
    "first_rows",
    "fit_table",
    "packed_rows",
    "sample_cells",
    "suggest",
]


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LATER[name]}"), name)
