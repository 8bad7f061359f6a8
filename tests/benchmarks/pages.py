"""Server time of every page with 200 releases present, and processor time of every public address.

    python -m tests.benchmarks.pages

Makes a portal of its own in a temporary folder: one dataset, 200 published releases of it (one of them made
in full, the rest as rows beside it), and asks for each page five times. The goal is 200 ms a page. Then a running count
of 7,000 periods and 101 counts is published: no public address may take more than 100 ms of a processor.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from functools import partial

MANY = 200
REPEATS = 5
GOAL_MS = 200
PUBLIC_GOAL_MS = 100


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test.utils import setup_test_environment

    setup_test_environment()
    call_command("migrate", verbosity=0)
    for role, addresses in pages().items():
        measure(role, addresses)
    measure_public()


def measure_public() -> None:
    """Processor time of what strangers can ask for, with a long running count; and of writing its files once."""
    from django.test import Client

    from dpportal.releases.models import Release
    from dpportal.streams import downloads
    from tests.dpportal.streams import building
    from tests.dpportal.test_public_work import COUNTS, PERIODS, PUBLIC, addresses

    release = Release.objects.filter(artifacts__isnull=False).distinct().get()
    stream = building.long_stream(release.dataset, PERIODS, COUNTS)
    downloads.request(stream)
    print(f"\nfiles of {PERIODS:,} × {COUNTS}, written by a worker")
    print(f"{processor_ms(lambda: downloads.DOWNLOADS.run(stream.pk)):8.0f} ms of a processor")
    visitor = Client()
    print(f"\npublic, processor\n{'ms':>8}  address")
    for name, address in addresses(release, stream):
        if name in PUBLIC and visitor.get(address).status_code == 200:
            spent = min(processor_ms(partial(visitor.get, address)) for _ in range(REPEATS))
            print(f"{spent:8.1f}  {address}{'  above the goal' if spent > PUBLIC_GOAL_MS else ''}")


def processor_ms(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def pages() -> dict[str, list[str]]:
    """The small world, and the addresses of its pages for each role."""
    from dpportal.accounts.models import Role
    from dpportal.releases.execution import RELEASES
    from dpportal.releases.models import Release
    from tests.dpportal import building

    owner = building.person("curator", Role.CURATOR)
    granter = building.person("administrator", Role.ADMINISTRATOR)
    dataset = building.granted(building.stored_dataset(owner), granter, total="100")
    made = [building.requested_release(dataset) for _ in range(MANY)]
    RELEASES.run(made[0].pk)
    publish(made)
    release, draft = made[0], building.complete_draft(dataset)
    at, here, todo = f"/datasets/{dataset.pk}/", f"/releases/{release.pk}/", f"/releases/{draft.pk}/"
    steps = [f"{todo}{step}/" for step in ("product", "columns", "method", "review")]
    own = [f"{at}{end}" for end in ("", "edit/", "rows/", "domain/", "domain/0/", "domain/unit/", "ledger/")]
    results = [f"{here}{end}" for end in ("", "job/", "compare/", "publish/")]
    lists = ["/datasets/", "/datasets/new/", "/releases/", "/releases/finished/"]
    admin = ("accounts/user", "budgets/budget", "budgets/ledgerentry", "datasets/dataset", "releases/release")
    assert Release.objects.count() == MANY + 1
    return {
        "": ["/account/sign-in/", "/releases/", here, "/guide/"],
        "curator": lists + own + steps + results,
        "administrator": ["/admin/", *(f"/admin/{name}/" for name in admin), "/admin/releases/releasejob/"],
    }


def publish(made: list) -> None:
    from django.utils import timezone

    from dpportal.releases.models import Release

    everyone = Release.objects.filter(pk__in=[release.pk for release in made])
    everyone.update(state=Release.State.READY, published_at=timezone.now())


def measure(role: str, addresses: list[str]) -> None:
    from django.test import Client

    from dpportal.accounts.models import User

    client = Client()
    if role:
        client.force_login(User.objects.get(username=role))
    print(f"\n{role or 'nobody signed in'}\n{'ms':>8} {'first':>8}  page")
    for address in addresses:
        times = [elapsed_ms(client, address) for _ in range(REPEATS)]
        median = statistics.median(times[1:])
        mark = "  above the goal" if median > GOAL_MS else ""
        print(f"{median:8.1f} {times[0]:8.1f}  {address}{mark}")


def elapsed_ms(client, address: str) -> float:
    start = time.perf_counter()
    answer = client.get(address)
    elapsed = 1000 * (time.perf_counter() - start)
    assert answer.status_code == 200, (address, answer.status_code)
    return elapsed


if __name__ == "__main__":
    main()
