"""The catalogue of translations: what the code says now, what the file has, and the file renewed from both.

What is marked is found by GNU gettext through Django's `makemessages`; the API's description names its own texts; the
rest is found by `program_texts`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from polib import MOFile, POEntry, POFile, mofile, pofile

from dpportal.api import v1
from dpportal.management.program_texts import ROOT, program_texts
from dpportal.platform.admin_labels import admin_labels

LOCALE = "zh_Hans"
# Of the file's lines.
WIDTH = 110
FILE = ROOT / "locale" / LOCALE / "LC_MESSAGES" / "django.po"
COMPILED = FILE.with_suffix(".mo")
ROOMS = ("dpportal", "mechanisms", "templates")
# Of gettext, without which nothing is extracted.
PROGRAMS = ("xgettext", "msguniq", "msgmerge", "msgattrib")
_OPTIONS = ["--symlinks", "-e", "html,md,py,svg,txt", "-i", "dpclient", "--no-wrap", "--add-location", "file"]
_METADATA = {
    "Language": LOCALE,
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}


def extracted() -> POFile:
    """Every text that can be translated, without translations. Raises CalledProcessError where gettext is missing."""
    with tempfile.TemporaryDirectory() as folder:
        # A copy, for the program lays files beside those that it reads.
        for room in ROOMS:
            shutil.copytree(ROOT / room, Path(folder) / room, ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / "locale").mkdir()
        environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        command = [sys.executable, "-m", "django", "makemessages", "-l", LOCALE, "-v", "0", *_OPTIONS]
        subprocess.run(command, cwd=folder, env=environment, check=True)  # noqa: S603 (a fixed command)
        catalogue = pofile(Path(folder) / "locale" / LOCALE / "LC_MESSAGES" / "django.po")
    known = {form for entry in catalogue for form in (entry.msgid, entry.msgid_plural)}
    _add(catalogue, known, ((text.template, text.place.partition(":")[0]) for text in program_texts()))
    _add(catalogue, known, ((text, "dpportal/api") for text in v1.texts()))
    _add(catalogue, known, ((label, "admin") for label in sorted(admin_labels)))
    return catalogue


def _add(catalogue: POFile, known: set[str], texts: Iterable[tuple[str, str]]) -> None:
    for text, place in texts:
        if text not in known:
            known.add(text)
            flags = ["python-brace-format"] if "{" in text else []
            catalogue.append(POEntry(msgid=text, occurrences=[(place, "")], flags=flags))


def stored() -> POFile:
    """What the file has."""
    return pofile(FILE, wrapwidth=WIDTH)


def compiled() -> MOFile:
    """What the portal reads."""
    return mofile(COMPILED)


def renewed() -> POFile:
    """What the code says now, with the translations that there are; those of texts that are gone are gone, too."""
    before = {(entry.msgctxt, entry.msgid): entry for entry in stored() if not entry.obsolete}
    after = extracted()
    for entry in after:
        entry.msgstr, entry.msgstr_plural = "", {0: ""} if entry.msgid_plural else {}
        if old := before.get((entry.msgctxt, entry.msgid)):
            translation = old.msgstr or old.msgstr_plural.get(0, "")
            if entry.msgid_plural:
                entry.msgstr_plural = {0: translation}
            else:
                entry.msgstr = translation
    after.metadata = _METADATA
    after.header, after.wrapwidth = "", WIDTH
    after.sort(key=lambda entry: (entry.msgid, entry.msgctxt or ""))
    return after


def save(catalogue: POFile) -> None:
    """Write the file and its compiled form."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    catalogue.save(str(FILE))
    catalogue.save_as_mofile(str(COMPILED))


def missing(catalogue: POFile) -> list[str]:
    """Texts without a translation."""
    return [entry.msgid for entry in catalogue if not (entry.msgstr or entry.msgstr_plural.get(0))]
