"""The only door to uploaded records: nothing else in the portal reads a table's rows.

Nothing here knows Django; every function takes a local path.
"""

from dpportal.datasets.rawdata.conversion import convert
from dpportal.datasets.rawdata.counting import Persons, cells_of_rows, count_cells, count_tables
from dpportal.datasets.rawdata.faults import UploadFault
from dpportal.datasets.rawdata.options import Limits, ReadOptions
from dpportal.datasets.rawdata.preview import first_rows, suggest
from dpportal.datasets.rawdata.sampling import sample_cells
from dpportal.datasets.rawdata.table import Column, TableFacts

__all__ = [
    "Column",
    "Limits",
    "Persons",
    "ReadOptions",
    "TableFacts",
    "UploadFault",
    "cells_of_rows",
    "convert",
    "count_cells",
    "count_tables",
    "first_rows",
    "sample_cells",
    "suggest",
]
