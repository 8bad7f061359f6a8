"""Settings of the test suite: the portal's own, on a data folder that is thrown away."""

import atexit
import os
import shutil
import tempfile

if "DPPORTAL_DATA_DIR" not in os.environ:
    folder = tempfile.mkdtemp(prefix="dpportal-test-")
    os.environ["DPPORTAL_DATA_DIR"] = folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

from dpportal.settings import *  # noqa: F403

STORAGES = {
    **STORAGES,  # noqa: F405
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405
