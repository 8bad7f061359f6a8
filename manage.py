#!/usr/bin/env python
"""Django's command line for the portal; `python manage.py portal` starts everything."""

import argparse
import os
import sys


def main() -> None:
    """Run a command of Django or of the portal."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")
    choose_data_folder(sys.argv[1:])
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError as missing:
        raise SystemExit(f"{missing.name} is not installed. Run: pip install -r requirements.txt") from None
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        raise SystemExit(str(fault)) from None


def choose_data_folder(arguments: list[str]) -> None:
    """The data folder must be known before the settings are read, so --data-dir is looked at first."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data-dir")
    chosen = parser.parse_known_args(arguments)[0].data_dir
    if chosen:
        os.environ["DPPORTAL_DATA_DIR"] = chosen


if __name__ == "__main__":
    main()
