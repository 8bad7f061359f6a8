"""Datasets of made-up columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.accounts.models import User
from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from mechanisms.domain import Attribute
from tests.dpportal import building


def dataset_of(
    owner: User, name: str, table: Mapping[str, list[str]], attributes: Sequence[Attribute]
) -> Dataset:
    """A stored table of `building.ROWS` rows of text, with its declared domain."""
    dataset = building.stored_dataset(owner, name)
    with storage.scratch_folder() as scratch:
        path = scratch / "table.parquet"
        pq.write_table(pa.table(dict(table)), path)
        dataset.table = storage.keep_under_random_name(path, records.folder(dataset.pk))
    dataset.columns = [{"name": name, "kind": "text", "remark": ""} for name in table]
    dataset.save()
    dataset.domain_versions.all().delete()
    dataset_services.declare_all(dataset, list(attributes))
    return dataset
