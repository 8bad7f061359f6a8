#!/usr/bin/env python
"""Django's command line for the portal; `python manage.py portal` starts everything."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as missing:
        raise SystemExit(f"{missing.name} is not installed. Run: pip install -r requirements.txt") from None
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
