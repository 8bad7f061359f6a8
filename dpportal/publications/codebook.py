"""codebook.csv: what the columns of a bundle's files are called in the curator's table, and what their values mean."""

from __future__ import annotations

from pathlib import Path

from dpportal.publications.table import Table
from mechanisms.domain import Domain
from mechanisms.tabular.codebook import codebook_fields, codebook_frame
from mechanisms.tabular.csv_frames import write_frame

NAME = "codebook.csv"


def write(domain: Domain, folder: Path) -> Table:
    """A line for every declared value or range of every column, in order."""
    path = folder / NAME
    write_frame(codebook_frame(domain), path)
    return Table(path, "Original names of the columns, and what their values mean", codebook_fields(domain))
