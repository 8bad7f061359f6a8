"""Settings of the test suite: the portal's own, on a data folder that is thrown away."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "DPPORTAL_DATA_DIR" not in os.environ:
    folder = tempfile.mkdtemp(prefix="dpportal-test-")
    # The master key is made beside it.
    os.environ["DPPORTAL_DATA_DIR"] = f"{folder}/data"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

# pytest-xdist's workers inherit the folder of the process that started them; each works in its own part of it.
worker = os.environ.get("PYTEST_XDIST_WORKER")
if worker and Path(os.environ["DPPORTAL_DATA_DIR"]).name != worker:
    own = Path(os.environ["DPPORTAL_DATA_DIR"]) / worker
    own.mkdir(parents=True, exist_ok=True)
    os.environ["DPPORTAL_DATA_DIR"] = str(own)

from dpportal.settings import *  # noqa: E402, F403

STORAGES = {
    **STORAGES,  # noqa: F405
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405

# Innermost: what comes after it sees the page as the client does.
MIDDLEWARE = [*MIDDLEWARE, "tests.dpportal.markup.FoldedForTheTestClient"]  # noqa: F405
