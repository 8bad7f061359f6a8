"""A browser sends a table to the bucket itself, by another origin than the portal's, and sends a lost part again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route

from dpportal.platform.objects.multipart import PART_BYTES
from tests.browser.visiting import JOB_MS, sign_in
from tests.dpportal.bucket import Bucket, bucket
from tests.dpportal.portal_command.starting import Portal, free_port

CONTENT = b"colour,age\n" + b"red,20\n" * (PART_BYTES // 7 + 1000)


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[tuple[Bucket, Portal]]:
    """A portal that keeps its files in a bucket to which its pages may send."""
    folder, port = tmp_path_factory.mktemp("direct"), free_port()
    with bucket(folder / "bucket", f"http://127.0.0.1:{port}") as made:
        running = Portal(folder / "data", port, **made.environment, DPPORTAL_DIRECT_UPLOADS=made.address)
        try:
            yield made, running
        finally:
            running.end()


def test_parts_go_to_the_bucket_and_a_lost_one_goes_again(store, browser: Browser, tmp_path: Path):
    made, running = store
    table = tmp_path / "table.csv"
    table.write_bytes(CONTENT)
    page = browser.new_context(base_url=f"http://127.0.0.1:{running.port}").new_page()
    sign_in(page, "curator", running.password("curator"))
    page.goto("/datasets/new/")
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if route.request.method == "PUT" and not lost:
            lost.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    page.route(f"{made.address}/**", lose_the_first)
    sent: list[str] = []
    page.on("requestfinished", lambda request: sent.append(f"{request.method} {request.url}"))
    page.get_by_label("Drop a table here").set_input_files(table)
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/datasets/*-*/", timeout=JOB_MS)
    page.context.close()
    assert lost and len([address for address in sent if address.startswith(f"PUT {made.address}")]) == 2
    assert not [
        address for address in sent if address.startswith("POST") and address.endswith("/datasets/new/")
    ]
    [original] = [name for name in made.names() if name.endswith(".original")]
    assert (made.objects / original).read_bytes() == CONTENT
