"""The encoding that a file was read by because nobody said one: shown with what it makes of the names, and others."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dpportal.accounts.permissions import curator_required
from dpportal.datasets import records
from dpportal.datasets.access import with_dataset
from dpportal.datasets.buttons import change_reading
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.parse_options_forms import ENCODINGS
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.tables.formats.encoding import WIDE
from dpportal.tables.formats.encoding_guess import USUAL

# Letters of names that show a reading, and names that are shown.
SHOWN_LETTERS, SHOWN_NAMES = 40, 6
UNMARKED = ("utf-16", "utf-32")  # whose order of bytes only a mark says


def guess_shown(dataset: Dataset) -> Json | None:
    """What the curator is told of a guessed encoding; None where it is declared, or said by the file, or fixed.

    label: of the encoding. is_usual: whether it is that of Western Europe, which needs no word where it is right.
    names: columns' names beyond ASCII, as it reads them. others: value, label, and the same names read so, of those
    encodings that have a letter for each byte; all are on the page “How the file is read”.
    """
    options = records.options_of(dataset)
    if not (dataset.facts.get("encoding_guessed") and dataset.can_change_parse_options and dataset.upload):
        return None
    current = options.encoding or USUAL
    names = [column["name"] for column in dataset.columns if not column["name"].isascii()][:SHOWN_NAMES]
    others = [
        (value, label, _read_as(names, current, value))
        for value, label in ENCODINGS
        if value and value not in (current, *UNMARKED)
    ]
    return {
        "label": dict(ENCODINGS)[current],
        "is_usual": current == USUAL,
        "names": names,
        "others": [other for other in others if "\ufffd" not in other[2]],
    }


def _read_as(names: list[str], current: str, other: str) -> str:
    """The names as another encoding would read their bytes; nothing where either has letters of fixed width."""
    if current in WIDE or other in WIDE:
        return ""
    letters = listed(names).encode(current, "replace").decode(other, "replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in letters)[:SHOWN_LETTERS]


@curator_required
@require_POST
@with_dataset(Right.OWN)
def choose_encoding(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Read the file again by another encoding; where its table begins is proposed anew."""
    encoding = request.POST.get("encoding", "")
    if encoding not in dict(ENCODINGS) or not encoding:
        messages.error(request, _("Choose an encoding first."))
        return redirect("datasets:home", dataset.pk)
    options = replace(
        records.options_of(dataset), encoding=encoding, delimiter=None, title_lines=None, header_lines=None
    )
    return change_reading(request, dataset, options)
