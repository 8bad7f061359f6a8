"""What is known of a stored table under other options of reading, without reading its file again."""

from __future__ import annotations

from dpportal.datasets import derived, records
from dpportal.datasets.models import Dataset
from dpportal.platform.json_types import Json
from dpportal.tables import ReadOptions


def columns_under(dataset: Dataset, options: ReadOptions) -> Json | None:
    """What is kept of the columns where the table's fields stay as they are; None where they have to be found anew."""
    is_stored = dataset.has_rows and dataset.can_change_parse_options
    if not (is_stored and options.finds_fields_like(records.options_of(dataset))):
        return None
    return derived.column_fields(records.proposed_columns(dataset, options))
