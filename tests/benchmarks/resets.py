"""What the form for a forgotten password takes for an address that is somebody's, for one that is nobody's, and beyond
the limit of a network.

    python -m tests.benchmarks.resets

Alternately, through all of the portal but the web server, on SQLite in a temporary folder, with a queue in another.
"""

from __future__ import annotations

import os
import statistics
import time

REPEATS = 200
KNOWN, UNKNOWN, BEYOND = "known@example.org", "nobody@example.org", "limit@example.org"


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DPPORTAL_EMAIL_URL"] = "smtp://a%40example.org:x@127.0.0.1:9"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    from dpportal.accounts import reset_limits
    from dpportal.accounts.models import OutgoingMail, ResetRequest, User

    User.objects.create_user("known", KNOWN, "not this one")
    client = Client(headers={"Host": "localhost"})
    before = {KNOWN: 0, UNKNOWN: 0, BEYOND: reset_limits.FROM_NETWORK}
    seconds: dict[str, list[float]] = {address: [] for address in before}
    for _ in range(REPEATS):
        for address, taken in seconds.items():
            for rows in (OutgoingMail, ResetRequest):
                rows.objects.all().delete()
            request = {"network": "127.0.0.1", "address": "x"}
            ResetRequest.objects.bulk_create(ResetRequest(**request) for _ in range(before[address]))
            begun = time.perf_counter()
            answer = client.post("/account/password/forgotten/", {"email": address})
            taken.append(time.perf_counter() - begun)
            assert answer.status_code == 302
    for address, taken in seconds.items():
        quarters = [1000 * value for value in statistics.quantiles(taken, n=4)]
        print(f"{address:<20}{quarters[1]:>7.2f} ms (quartiles {quarters[0]:.2f}, {quarters[2]:.2f})")


if __name__ == "__main__":
    main()
