"""What a download of a release holds. The same measurement always gives the same bytes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from django.conf import settings
from django.utils.translation import override

from dpportal.charts.report import stilled
from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.platform.language_layers import in_reader_language, languages
from dpportal.publications import codebook, descriptions
from dpportal.publications.archive import BundleFile, folder_name, write_zip
from dpportal.publications.croissant import Described, croissant_file
from dpportal.publications.downloads import store
from dpportal.publications.load_instructions import measured_in
from dpportal.publications.notebook import notebook_files
from dpportal.publications.sdmx import with_observations
from dpportal.publications.table import Table
from dpportal.publications.workbook import with_workbooks
from dpportal.releases.display_texts import DisplayTexts
from dpportal.releases.models import Artifact, Release
from dpportal.releases.privacy_statement import promise, read_from
from dpportal.releases.products import AnyReconstructed, method_of, method_title, presenter_of, product_of
from dpportal.releases.row_retention import RowRetention
from dpportal.value_choices.disclosure import PublishedLoss
from mechanisms.disclosure import Disclosure, loss_text, noise_facts
from mechanisms.tabular.headers import Headers
from mechanisms.verify.bundle import MEASUREMENT

ABOUT_MEASUREMENT = (
    "What was measured, with its noise, as NumPy reads it; python -m mechanisms.verify starts from it"
)


def archive_name(release: Release) -> str:
    """The name of the file that has all others in it."""
    return f"release-{release.pk}.zip"


def write(reconstructed: AnyReconstructed, words: DisplayTexts, page: Json) -> list[Artifact]:
    """Write and store the bundle of a measured release; returns its files, not yet saved as rows.

    words: read once, so that no two files say different things. page: what the public page shows, in every language.
    """
    release = reconstructed.release
    assert release.measured_at is not None
    with storage.scratch_folder() as folder:
        with release.counting():
            tables = _main_first(reconstructed, folder)
        observed = with_observations(tables, f"release-{release.pk}", release.measured_at)
        files = [*with_workbooks(tables), *observed]
        files.append(_measurement(release, folder))
        contexts = _contexts(reconstructed, words, page)
        files += _explanations(reconstructed, words, contexts, tables, files, folder)
        together = folder_name(words.title, f"release-{release.pk}")
        archive = write_zip(folder / archive_name(release), files, release.measured_at, together)
        row = partial(Artifact, release=release)
        return store(row, [archive, *files], f"releases/{release.pk}/bundle")


def _main_first(reconstructed: AnyReconstructed, folder: Path) -> list[Table]:
    """The product's tables, before the others that which has its numbers: readers see files in this order."""
    presenter = presenter_of(reconstructed.release)
    tables: list[Table] = presenter.tables(reconstructed, folder)
    return sorted(tables, key=lambda table: table.path.name != presenter.main_table)


def _measurement(release: Release, folder: Path) -> BundleFile:
    """What was measured, as it was committed: from it everybody can make the other files again."""
    path = folder / MEASUREMENT
    with storage.local_path(release.measurement) as committed:
        shutil.copyfile(committed, path)
    return BundleFile(path, ABOUT_MEASUREMENT)


def filled_columns(release: Release) -> list[str]:
    """The released columns whose domain was taken from the data."""
    attributes = release.declaration.attributes.all()
    return [each.column for each in attributes if each.filled_from_data and each.column in release.columns]


def chosen_columns(release: Release) -> list[str]:
    """The columns that the release reads whose values were chosen privately, and not taken from the data before."""
    choices = PublishedLoss.of(release).choices
    columns = {each.column for each in choices}
    declared = {
        each.column: each.declared()
        for each in release.declaration.attributes.all()
        if not each.filled_from_data and each.column in columns
    }
    return sorted(
        {each.column for each in choices if each.column in declared and each.declares(declared[each.column])}
    )


def _explanations(
    reconstructed: AnyReconstructed,
    words: DisplayTexts,
    contexts: Mapping[str, Json],
    tables: list[Table],
    files: list[BundleFile],
    folder: Path,
) -> list[BundleFile]:
    """What explains the data files: release.json, package description, readme and reports."""
    release = reconstructed.release
    described = _described(release, words, promise(release, reconstructed.plan.loss, words.others))
    explaining = [
        descriptions.package_file(folder, tables, described),
        croissant_file(folder, tables, described),
        _readme(contexts, tables, files, folder),
        *descriptions.report_files(folder, "releases/report.html", _reports(contexts)),
        *notebook_files(folder, f"releases/{release.product}/notebook.py"),
    ]
    facts = _facts(reconstructed, words, files)
    about = descriptions.about_file(folder, facts, [*files, *explaining])
    return [about, descriptions.signature_file(folder, about), *explaining]


def _described(release: Release, words: DisplayTexts, statement: str) -> Described:
    assert release.measured_at is not None
    return Described(
        name=f"release-{release.pk}",
        title=words.title,
        description=statement,
        author=words.curator,
        created_on=release.measured_at.date(),
        about=words.about,
    )


def _contexts(reconstructed: AnyReconstructed, words: DisplayTexts, page: Json) -> dict[str, Json]:
    """What the readme and the reports both show, by the codes of languages. page: in every one."""
    contexts = {}
    for code in languages():
        with override(code):
            contexts[code] = _context(reconstructed, words, page)
    return contexts


def _context(reconstructed: AnyReconstructed, words: DisplayTexts, page: Json) -> Json:
    """The same in the language of the moment."""
    release, plan = reconstructed.release, reconstructed.plan
    return {
        "release": release,
        "words": words,
        "product": product_of(release),
        "plan": plan,
        "shown": in_reader_language(page),
        "statement": promise(release, plan.loss, words.others),
        "filled": filled_columns(release),
        "chosen": chosen_columns(release),
        "retention": RowRetention.of(release),
    }


def _readme(
    contexts: Mapping[str, Json], tables: list[Table], files: list[BundleFile], folder: Path
) -> BundleFile:
    texts = contexts[settings.LANGUAGE_CODE]
    release = texts["release"]
    independent = next((table.path.name for table in tables if table.has_independent_cells), "")
    first_csv = next((table.path.name for table in tables if table.path.suffix == ".csv"), "")
    further = {
        "files": files,
        "method": method_of(release.product, texts["plan"].mechanism),
        "first_table": independent or first_csv,
        "independent_cells": bool(independent),
        "measured": measured_in(tables),
        "has_codebook": any(table.path.name == codebook.NAME for table in tables),
    }
    explained = {code: {**context, **further} for code, context in contexts.items()}
    return descriptions.readme_file(folder, "releases/bundle_readme.md", explained)


def _reports(contexts: Mapping[str, Json]) -> dict[str, Json]:
    """What the public page says, for files by themselves."""
    reports = {}
    for code, context in contexts.items():
        with override(code):
            reports[code] = _report(context)
    return reports


def _report(context: Json) -> Json:
    release, plan, words = context["release"], context["plan"], context["words"]
    loss = PublishedLoss.of(release)
    return {
        **context,
        "title": words.title,
        "about": words.about,
        "method_title": method_title(release.product, plan.mechanism),
        "loss": str(loss),
        "epsilon_delta": loss.pair(),
        "shown": stilled(context["shown"]),
    }


def _facts(reconstructed: AnyReconstructed, words: DisplayTexts, files: list[BundleFile]) -> Json:
    """Everything needed to check how the release was made."""
    release = reconstructed.release
    assert release.measured_at is not None
    return {
        "release": str(release.pk),
        "product": release.product,
        "title": words.title,
        "dataset": words.dataset,
        "curator": words.curator,
        **({"about": about} if (about := words.about.facts()) else {}),
        "measured_at": release.measured_at.isoformat(timespec="seconds"),
        "loss": loss_text(reconstructed.plan.loss, PublishedLoss.of(release).chosen_facts()),
        "statement": promise(release, reconstructed.plan.loss, words.others),
        **({"read_from": read} if (read := read_from(release)) else {}),
        "protects": {
            **release.protects(reconstructed.plan.loss.unit, words.others),
            **({"rows_without_person": "left out"} if release.person_column else {}),
        },
        **_columns_in_files(release, files),
        "disclosure": _disclosure(reconstructed),
        "plan": reconstructed.plan.to_json(),
        "domain": _domain_facts(release),
        "measurement_sha256": release.measurement_sha256,
        **presenter_of(release).facts(reconstructed),
    }


def _domain_facts(release: Release) -> Json:
    return {
        "version": release.declaration.version,
        "filled_from_data": filled_columns(release),
        **PublishedLoss.of(release).facts(),
    }


def _disclosure(reconstructed: AnyReconstructed) -> Json:
    release, plan = reconstructed.release, reconstructed.plan.to_json()
    loss = PublishedLoss.of(release)
    disclosure = Disclosure(
        reconstructed.plan.loss,
        release.delta,
        plan["mechanism"],
        noise_facts(plan),
        total=loss.total if loss.choices else None,
        taken=filled_columns(release),
    )
    return {**disclosure.facts(), **loss.facts()}


def _columns_in_files(release: Release, files: list[BundleFile]) -> Json:
    """What the files call the columns, which all else in release.json calls as the curator's table does.

    Without a codebook, which has them, their names for readers.
    """
    if not any(file.name == codebook.NAME for file in files):
        titled = [each for each in release.domain.attributes if each.shown_name != each.name]
        columns = [{"column": each.name, "title": each.shown_name} for each in titled]
        return {"columns": columns} if columns else {}
    named = Headers.of(release.domain).columns
    return {"columns": [{"name": name, "column": column} for column, name in named.items()]}
