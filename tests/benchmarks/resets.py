"""What the form for a forgotten password takes for an address that is somebody's, and for one that is nobody's.

    python -m tests.benchmarks.resets

Alternately, through all of the portal but the web server, on SQLite in a temporary folder, with a queue in another.
"""

from __future__ import annotations

import os
import statistics
import time

REPEATS = 200
KNOWN, UNKNOWN = "known@example.org", "nobody@example.org"


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DPPORTAL_EMAIL_URL"] = "smtp://a%40example.org:x@127.0.0.1:9"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    from dpportal.accounts.models import OutgoingMail, ResetRequest, User

    User.objects.create_user("known", KNOWN, "not this one")
    client = Client(headers={"Host": "localhost"})
    seconds: dict[str, list[float]] = {KNOWN: [], UNKNOWN: []}
    for _ in range(REPEATS):
        for address, taken in seconds.items():
            for rows in (OutgoingMail, ResetRequest):
                rows.objects.all().delete()
            begun = time.perf_counter()
            answer = client.post("/account/password/forgotten/", {"email": address})
            taken.append(time.perf_counter() - begun)
            assert answer.status_code == 302
    for address, taken in seconds.items():
        quarters = [1000 * value for value in statistics.quantiles(taken, n=4)]
        print(f"{address:<20}{quarters[1]:>7.2f} ms (quartiles {quarters[0]:.2f}, {quarters[2]:.2f})")


if __name__ == "__main__":
    main()
