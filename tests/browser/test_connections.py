"""The form of a connection writes what another kind of engine usually has."""

from __future__ import annotations

from playwright.sync_api import expect


def test_another_kind_brings_its_usual_port_and_schema(visit):
    page = visit("administrator")
    page.goto("/admin/connections/connection/add/")
    kind, port, schema = (
        page.locator("#id_kind"),
        page.locator("#id_port"),
        page.locator("#id_tables-0-schema"),
    )
    expect(port).to_have_value("5432")
    expect(schema).to_have_value("public")
    kind.select_option("clickhouse")
    expect(port).to_have_value("8443")
    expect(schema).to_have_value("")
    page.locator("#tables-group .add-row a").click()
    expect(page.locator("#id_tables-1-schema")).to_have_value("")
    kind.select_option("postgresql")
    expect(page.locator("#id_tables-1-schema")).to_have_value("public")
    port.fill("6000")
    kind.select_option("spark")
    expect(port).to_have_value("6000")
    expect(schema).to_have_value("")
