"""A process of the portal starts without searches for garbage, and has them from then on."""

import subprocess
import sys

import pytest
from django.conf import settings

START = """
import gc
import dpportal.settings
import django
before = gc.get_stats()[2]["collections"]
django.setup()
print(gc.get_stats()[2]["collections"] - before, gc.isenabled())
"""


@pytest.mark.slow
def test_what_is_imported_is_not_searched_for_garbage_again_and_again(tmp_path):
    environment = {"DJANGO_SETTINGS_MODULE": "dpportal.settings", "DPPORTAL_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", START],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["0", "True"]


def test_the_room_that_has_the_searches_begin_is_the_last_one():
    assert settings.INSTALLED_APPS[-1] == "dpportal.catalogue"
