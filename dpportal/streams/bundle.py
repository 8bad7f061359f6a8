"""What a download of a stream holds: its series so far, a drawing, and the files that explain them.

Everything here is made from published numbers and the plan; nothing of the true counts or of the noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
from django.conf import settings
from django.utils import translation

from dpportal.budgets.promises import OtherPromises
from dpportal.charts.report import stilled
from dpportal.platform.json_digest import json_digest
from dpportal.platform.json_types import Json
from dpportal.platform.language_layers import languages
from dpportal.publications import descriptions
from dpportal.publications.archive import BundleFile, folder_name, write_zip
from dpportal.publications.croissant import Described, croissant_file
from dpportal.publications.load_instructions import measured_in
from dpportal.publications.notebook import notebook_files
from dpportal.publications.sdmx import with_observations
from dpportal.publications.table import Table
from dpportal.publications.workbook import with_workbooks
from dpportal.publications.written_files import TextDigests, promises_digest
from dpportal.streams.chart_files import MAX_CHARTS, chart_files, running_count_chart
from dpportal.streams.finding import finding
from dpportal.streams.label_columns import VALUE, value_columns
from dpportal.streams.measure import summed_bounds
from dpportal.streams.models import Stream
from dpportal.streams.series import Series, promise_of, unit_of, whole_orders
from dpportal.streams.series_view import Chosen, increments_chart
from dpportal.value_choices.disclosure import PublishedLoss
from mechanisms import registry
from mechanisms.disclosure import Disclosure, loss_text, noise_facts
from mechanisms.tabular.csv_frames import write_frame
from mechanisms.tabular.sdmx import Observed
from mechanisms.tabular.sdmx_codes import LONE

SERIES = "series.csv"
# Raised when files are written otherwise than before: then all are written again.
FORMAT = 7
ABOUT_SERIES = "Every published period with its margin"
# Periods of which a report lists the counts.
MAX_REPORTED = 400
WHOSE = "Whose running count, as the table has it: empty for missing values, and where there is one only"
FIELDS = [
    {"name": "period", "type": "integer", "description": "Number of the period, from 1"},
    {"name": "begins", "type": "string", "description": "The period in the stream's calendar"},
    {"name": "value", "type": "string", "description": WHOSE},
    {"name": "released_count", "type": "integer", "description": "Running count with noise, unbiased"},
    {"name": "standard_error", "type": "number"},
    {"name": "interval_lower", "type": "integer"},
    {"name": "interval_upper", "type": "integer"},
    {"name": "increment", "type": "integer", "description": "Released count minus the one before, unbiased"},
    {"name": "increment_standard_error", "type": "number"},
    {"name": "increment_lower", "type": "integer"},
    {"name": "increment_upper", "type": "integer"},
    {"name": "never_falling_count", "type": "number", "description": "Nearest series that never falls"},
    {"name": "never_falling_increment", "type": "number", "description": "What it adds in the period"},
]


# The estimate that statistical offices exchange, and what stands beside it only in the file for readers.
OBSERVED = Observed("released_count", "interval_lower", "interval_upper", "standard_error")
ASIDE = [name for name in map(str, (field["name"] for field in FIELDS)) if name.startswith(("incr", "never"))]


def archive_name(stream: Stream) -> str:
    """The name of the file that has all others in it."""
    return f"stream-{stream.pk}.zip"


def _series_table(stream: Stream, series: Series, folder: Path) -> Table:
    """Write the series. The value that a line is of is left empty for a missing one, or where there is one alone."""
    empty = {VALUE: LONE} if stream.labels == [""] else {}
    path, fields = folder / SERIES, _fields(stream)
    table = Table(path, ABOUT_SERIES, fields, observed=[OBSERVED], aside=ASIDE, empty=empty)
    write_series(stream, series, table.path)
    return table


def write(stream: Stream, series: Series, folder: Path) -> list[BundleFile]:
    """Write the bundle of a stream with at least one period; the archive of all files comes first."""
    table = _series_table(stream, series, folder)
    observed = with_observations([table], f"stream-{stream.pk}", series.last_published_at)
    files = [*with_workbooks([table]), *observed, *chart_files(stream, series, folder)]
    promised = promise_of(stream, stream.other_promises)
    described = Described(
        name=f"stream-{stream.pk}",
        title=stream.name,
        description=promised,
        author=stream.created_by.public_name,
        created_on=series.last_published_at.date(),
        about=stream.dataset.about,
    )
    package = descriptions.package_file(folder, [table], described)
    shown = {
        "stream": stream,
        "about": stream.dataset.about,
        "series": series,
        "coded": len(value_columns(stream)) > 1,
        "plan": stream.plan,
        "files": files,
        "measured": measured_in([table]),
    }
    explained, reports = {}, {}
    for code in languages():
        with translation.override(code):
            explained[code] = {**shown, "statement": promise_of(stream, stream.other_promises)}
            reports[code] = _report(stream, series)
    readme = descriptions.readme_file(folder, "streams/bundle_readme.md", explained)
    files = [*files, package, croissant_file(folder, [table], described), readme]
    files += descriptions.report_files(folder, "streams/report.html", reports)
    files += notebook_files(folder, "streams/notebook.py")
    about = descriptions.about_file(folder, _facts(stream, series), files)
    together = folder_name(stream.name, f"stream-{stream.pk}")
    files = [about, descriptions.signature_file(folder, about), *files]
    archive = write_zip(folder / archive_name(stream), files, series.last_published_at, together)
    return [archive, *files]


def _report(stream: Stream, series: Series) -> Json:
    """What the public page says, for a file by itself, in the language of the moment."""
    plan, series, loss = stream.plan, replace(series, unit=unit_of(stream)), PublishedLoss.of(stream)
    figures = []
    for place in range(min(series.width, MAX_CHARTS)):
        figures.append(running_count_chart(series, place))
        figures.append(increments_chart(series, Chosen((place,)), len(series.labels)))
    return {
        "title": stream.name,
        "stream": stream,
        "plan": plan,
        "method_title": registry.stream(plan.mechanism).title,
        "unit": series.unit,
        "statement": promise_of(stream, stream.other_promises),
        "loss": str(loss),
        "epsilon_delta": loss.pair(whole_orders=whole_orders(plan)),
        "about": stream.dataset.about,
        "finding": finding(stream, series),
        "figures": [stilled(asdict(figure)) for figure in figures],
        "rows": list(_newest(series)),
        "margins": len(series.labels) * series.width,
    }


def _newest(series: Series) -> Iterator[tuple[str, str, *tuple[int, ...]]]:
    """Period, whose count, the count with its interval's ends, and what is new with its own, newest first."""
    for at in range(len(series.labels) - 1, max(-1, len(series.labels) - 1 - MAX_REPORTED), -1):
        half, half_new = int(series.half_widths[at]), int(series.increment_half_widths[at])
        for place, name in enumerate(series.names):
            count, new = int(series.released[at, place]), int(series.increments[at, place])
            ends = (new - half_new, new + half_new)
            yield series.labels[at], name, count, count - half, count + half, new, *ends


def _fields(stream: Stream) -> list[dict[str, str]]:
    """Those of series.csv; where values are codes, their labels are a column of their own."""
    value, *labels = (column.field() for column in value_columns(stream))
    named = [{**value, "description": WHOSE}, *labels]
    at = next(place for place, field in enumerate(FIELDS) if field["name"] == VALUE)
    return [*FIELDS[:at], *named, *FIELDS[at + 1 :]]


def write_series(stream: Stream, series: Series, path: Path) -> None:
    """series.csv: a line for each period and running count, periods in order."""
    columns = {
        "period": series.periods.repeat(series.width),
        "begins": [label for label in series.labels for _ in range(series.width)],
        **{column.name: column.labels * len(series.labels) for column in value_columns(stream)},
        "released_count": series.released.ravel(),
        "standard_error": series.standard_errors.repeat(series.width).round(6),
        "interval_lower": (series.released - series.half_widths[:, None]).ravel(),
        "interval_upper": (series.released + series.half_widths[:, None]).ravel(),
        "increment": series.increments.ravel(),
        "increment_standard_error": series.increment_standard_errors.repeat(series.width).round(6),
        "increment_lower": (series.increments - series.increment_half_widths[:, None]).ravel(),
        "increment_upper": (series.increments + series.increment_half_widths[:, None]).ravel(),
        "never_falling_count": series.consistent.ravel().round(6),
        "never_falling_increment": series.consistent_increments.ravel().round(6),
    }
    write_frame(pd.DataFrame(columns), path)


def text_digests(stream: Stream) -> TextDigests:
    """What the files should say now; all of it can be changed, or taken back, after they were written."""
    others = stream.other_promises
    # Whatever language a visitor has, the files are written in the site's own.
    with translation.override(settings.LANGUAGE_CODE):
        promises = promises_digest(others.named, stream.dataset.about)
        texts = {
            **_texts(stream, OtherPromises()),
            "description": stream.description,
            "promises": promises,
            "format": FORMAT,
            **_closed(stream),
        }
    return TextDigests(json_digest(texts), promises, others.spending)


def _texts(stream: Stream, others: OtherPromises) -> Json:
    return {
        "title": stream.name,
        "dataset": stream.dataset.name,
        "curator": stream.created_by.public_name,
        **({"about": about} if (about := stream.dataset.about.facts()) else {}),
        "statement": promise_of(stream, others),
        "protects": stream.protects(stream.plan.loss.unit, others),
    }


def _closed(stream: Stream) -> dict[str, str]:
    """When its periods ended; nothing while there may be more."""
    if not stream.is_closed or stream.closed_at is None:
        return {}
    return {"closed_at": stream.closed_at.isoformat(timespec="seconds")}


def _facts(stream: Stream, series: Series) -> Json:
    """Everything needed to check how the series was made."""
    return {
        "stream": str(stream.pk),
        "product": "stream",
        "loss": loss_text(stream.plan.loss, PublishedLoss.of(stream).chosen_facts()),
        **_texts(stream, stream.other_promises),
        "opened_at": stream.opened_at.isoformat(timespec="seconds") if stream.opened_at else None,
        **_closed(stream),
        "periods": len(series.labels),
        "last_published_at": series.last_published_at.isoformat(timespec="seconds"),
        "plan": stream.plan.to_json(),
        "disclosure": _disclosure(stream),
        "counted": {
            "column": stream.column,
            "values": stream.labels if stream.split else stream.cells,
            "summed": stream.summed,
            **({"summed_between": list(summed_bounds(stream))} if stream.summed else {}),
            "largest_count_of_one_period": stream.largest_increment,
        },
        "calendar": {
            "step": stream.step,
            "first_day": stream.first_day.isoformat() if stream.first_day else None,
        },
    }


def _disclosure(stream: Stream) -> Json:
    plan, loss = stream.plan, PublishedLoss.of(stream)
    disclosure = Disclosure(
        plan.loss,
        stream.delta,
        plan.mechanism,
        noise_facts(plan.to_json()),
        whole_orders(plan),
        total=loss.total if loss.choices else None,
        taken=_filled_columns(stream),
    )
    return {**disclosure.facts(), **loss.facts()}


def _filled_columns(stream: Stream) -> list[str]:
    """Of the column that is counted, and the one that is added up, those whose domain was taken from the data."""
    version = stream.domain_version
    assert version is not None
    columns = [stream.column, stream.summed]
    filled = version.attributes.filter(filled_from_data=True, column__in=columns)
    return list(filled.values_list("column", flat=True))
