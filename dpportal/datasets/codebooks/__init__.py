"""Codebooks: what is publicly known of the columns, read from the files in which people keep it, and written."""

from dpportal.datasets.codebooks.faults import MAX_BYTES, CodebookError
from dpportal.datasets.codebooks.model import Codebook
from dpportal.datasets.codebooks.reading import read
from dpportal.datasets.codebooks.writing import as_csv, as_json

__all__ = ["MAX_BYTES", "Codebook", "CodebookError", "as_csv", "as_json", "read"]
