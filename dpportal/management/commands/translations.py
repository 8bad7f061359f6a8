"""Renews the catalogue of translations from what the code and the templates say."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandParser

from dpportal.management import translations


class Command(BaseCommand):
    help = "Bring locale/ up to date with the texts of code and templates, compile it, and list what is untranslated."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--compile", action="store_true", help="only compile what the file has")

    def handle(self, *args: object, **options: object) -> None:
        catalogue = translations.stored() if options["compile"] else translations.renewed()
        translations.save(catalogue)
        missing = translations.missing(catalogue)
        for text in missing:
            self.stdout.write(f"untranslated: {text!r}")
        self.stdout.write(f"{len(catalogue)} texts, {len(missing)} without a translation.")
