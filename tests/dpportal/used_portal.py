"""Uses a portal in all ways that leave something on its disk; says as JSON what a copy of the disk must not tell.

python -m tests.dpportal.used_portal
"""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from unittest.mock import patch

import django
from django.test.utils import setup_test_environment

# Each row names somebody who is nowhere else. The number of rows is found in no moment, size or name by chance.
ROWS, MORE_ROWS = 48_611, 7_919
NAME = "Zebedee Quixwold"
ADDRESS = "https://hooks.example/secret-path-of-a-webhook"


def table(rows: int) -> bytes:
    towns = ("Ulm", "Bonn", "Trier")
    lines = (f"{('red', 'blue')[i % 2]},{i % 90},{towns[i % 3]},{NAME} {i}\n" for i in range(rows))
    return f"colour,age,town,name\n{''.join(lines)}".encode()


def main() -> None:
    django.setup()
    setup_test_environment()
    from django.conf import settings
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client

    from dpportal.accounts.models import AuthenticatorApp, Role
    from dpportal.api import tokens
    from dpportal.api.models import Scope
    from dpportal.datasets import domain_fit, domain_fit_job, import_job, services
    from dpportal.notices import hosts, services as notices
    from dpportal.notices.events import CHOICES as EVENTS
    from dpportal.notices.models import AllowedHost
    from dpportal.releases import execution
    from dpportal.streams import job_execution, services as streams
    from dpportal.value_choices.execution import CHOICES
    from mechanisms.domain import Categorical, Integer
    from tests.dpportal import building
    from tests.dpportal.streams.building import open_stream

    contents: list[str] = []

    def fingerprint(content: str) -> str:
        contents.append(content)
        return keyed(content)

    keyed = import_job.fingerprint
    curator = building.person("curator", Role.CURATOR)
    administrator = building.person("administrator", Role.ADMINISTRATOR)
    desk = Client()
    desk.force_login(curator)
    with patch.object(import_job, "fingerprint", fingerprint):
        dataset = building.granted(building.uploaded(desk, table(ROWS)), administrator)
    colour = Categorical("colour", values=("red", "blue"))
    services.declare_all(dataset, [colour, Integer("age", lower=0, upper=99, width=10)])
    domain_fit.ask(dataset)
    domain_fit_job.FITS.run(dataset.pk)
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    stream = open_stream(dataset, cells=[0], amount="0.0001")
    file = SimpleUploadedFile("more.csv", table(MORE_ROWS))
    job = streams.queue_records(stream, 1, file, curator)
    job_execution.STREAM_JOBS.run(job.pk)
    CHOICES.run(building.requested_values(dataset, "town").pk)
    _token, text = tokens.make(curator, "script", Scope.READ, 7, Decimal(1))
    hosts.allow(AllowedHost(host="hooks.example", port=443), administrator)
    _hook, secret = notices.add(
        curator, ADDRESS, [value for value, _label in EVENTS], "https://portal.example"
    )
    AuthenticatorApp.objects.create(person=curator, secret="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    dataset.refresh_from_db()
    json.dump(
        {
            "contents": contents,
            "dataset": str(dataset.pk),
            "request": [str(stream.pk), str(job.pk)],
            "fingerprint": dataset.fingerprint,
            "fingerprint_key": settings.FINGERPRINT_KEY,
            "secrets": [
                settings.FINGERPRINT_KEY,
                settings.SECRET_KEY,
                settings.SECRETS.current("stream_key"),
                settings.SECRETS.current("signing_key"),
                text,
                secret,
                ADDRESS,
                "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
            ],
            "states": [
                release.dataset.conversion.state,
                stream.periods.count(),
                dataset.value_choices.get().state,
            ],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
