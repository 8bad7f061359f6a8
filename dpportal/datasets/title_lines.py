"""A description for readers that the lines above a table propose: what it is about, of which years, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpportal.datasets import records
from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.platform.sealing_faults import FileGoneFault
from dpportal.tables.faults import UploadFault

_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
# What an office is called, in the languages of many tables.
_OFFICE = re.compile(
    r"\b(?:agency|authority|bureau|census|council|department|institute|ministry|office|registry|service of"
    r"|agence|direction|institut|minist[eè]re|observatoire|office|préfecture|rectorat"
    r"|behörde|bundesamt|landesamt|ministerium|statistik|ministerio|instituto|consejería)|amt\b|部|局|厅|委员会",
    re.IGNORECASE,
)
LONGEST_PUBLISHER = 160


def proposed_description(dataset: Dataset) -> Json:
    """Fields of the form for readers, for its owner to change; empty where something was written before, where the
    file has no such lines, or where it is gone.
    """
    options = records.options_of(dataset)
    is_written = PublicDescription.objects.filter(dataset=dataset).exists()
    if is_written or not dataset.upload or not options.title_lines:
        return {}
    try:
        titles = records.look(dataset, options).titles
    except (UploadFault, FileGoneFault, storage.StorageFault):
        return {}
    return description_of_titles(titles)


def description_of_titles(titles: Sequence[str]) -> Json:
    """The same of the lines' texts."""
    lines = [text for text in titles if text]
    publisher = next((text for text in lines if _OFFICE.search(text) and not _YEAR.search(text)), "")
    years = sorted(set(_YEAR.findall(" ".join(lines))))
    stated = {
        "text": "\n".join(text for text in lines if text != publisher),
        "publisher": publisher[:LONGEST_PUBLISHER],
        "first": years[0] if years else "",
        "last": years[-1] if len(years) > 1 else "",
    }
    return {name: text for name, text in stated.items() if text}
