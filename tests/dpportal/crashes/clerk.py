"""A process that does what the web server would: confirms releases. Answers JSON lines, one a question."""

from __future__ import annotations

import json
import sys
from typing import Any

import django

django.setup()

from dpportal import storage  # noqa: E402
from dpportal.accounts.models import Role  # noqa: E402
from dpportal.datasets.models import Dataset  # noqa: E402
from dpportal.releases import bundle, results  # noqa: E402
from dpportal.releases.models import Release  # noqa: E402
from dpportal.releases.tasks import run_release  # noqa: E402
from tests.dpportal import building  # noqa: E402


def prepare() -> str:
    """The small table with ε = 5."""
    curator = building.person("curator", Role.CURATOR)
    administrator = building.person("administrator", Role.ADMINISTRATOR)
    dataset = building.granted(building.stored_dataset(curator), administrator, "5")
    return str(dataset.pk)


def confirm() -> str:
    """Confirm a release of ε = 0.1; the message is in the queue when this returns."""
    return str(building.requested_release(Dataset.objects.get()).pk)


def deliver(release_id: str) -> None:
    """Deliver the job's message once more."""
    run_release.delay(release_id)


def rebuild(release_id: str) -> dict[str, str]:
    """Write the bundle anew from the stored measurement; returns the digests of the new files."""
    release = Release.objects.get(pk=release_id)
    bundle.write(results.reconstruct(release))
    stored = release.artifacts.values_list("name", "stored")
    return {name: digest(file) for name, file in stored}


def digest(name: str) -> str:
    with storage.local_path(name) as path:
        return storage.sha256(path)


DEEDS: dict[str, Any] = {f.__name__: f for f in (prepare, confirm, deliver, rebuild, digest)}

if __name__ == "__main__":
    for line in sys.stdin:
        deed, *arguments = json.loads(line)
        print(json.dumps(DEEDS[deed](*arguments)), flush=True)
