"""What a source of ClickHouse is made of: whether it changed, and where a row of one person decides on others'."""

from __future__ import annotations

import pytest

from dpportal.tables.connections.models import SharedTable
from dpportal.tables.engines import definitions
from tests import clickhouses
from tests.dpportal import building
from tests.dpportal.tables.connections import refusals
from tests.dpportal.tables.connections.conftest import connected
from tests.dpportal.tables.connections.refusals import Failing, released

pytestmark = pytest.mark.clickhouse
SEEN = "SELECT colour, age, patient FROM health.visits"


class TestAChange(Failing):
    @pytest.mark.parametrize(
        "instead",
        ["SELECT * FROM health.others", "SELECT v.* FROM health.visits AS v CROSS JOIN numbers(5) AS n"],
        ids=["another table", "five of each row"],
    )
    def test_of_a_view_within_a_view(self, connection, curator, administrator, owner, instead):
        owner("CREATE TABLE health.others ENGINE = MergeTree ORDER BY () AS SELECT * FROM health.visits")
        owner("CREATE VIEW health.inner_seen AS SELECT * FROM health.visits WHERE age >= 0")
        owner("CREATE VIEW health.seen AS SELECT colour, age, patient FROM health.inner_seen")
        table = SharedTable.objects.create(connection=connection, title="Seen", schema="health", table="seen")
        dataset = building.granted(connected(table, curator), administrator)
        owner(f"CREATE OR REPLACE VIEW health.inner_seen AS {instead}")
        assert "health.inner_seen is defined in another way" in self.failed(dataset)

    def test_of_a_table_that_is_counted_itself_is_none(self, elsewhere, owner):
        owner("ALTER TABLE health.visits ADD COLUMN weight Int32")
        assert released(elsewhere).is_ready

    def test_of_what_a_materialised_view_writes_to(self, connection, curator, administrator, owner):
        create = "CREATE TABLE health.target (colour String, age Int32, patient String) ENGINE = "
        owner(f"{create} MergeTree ORDER BY age")
        owner(f"CREATE MATERIALIZED VIEW health.stored TO health.target AS {SEEN}")
        table = SharedTable.objects.create(
            connection=connection, title="Stored", schema="health", table="stored"
        )
        dataset = building.granted(connected(table, curator), administrator)
        owner("DROP TABLE health.target")
        owner(f"{create} Memory")
        assert "health.target is defined in another way" in self.failed(dataset)


SHIFTS = {
    **refusals.SHIFTS,
    "rows": "SELECT colour, arrayJoin([1, age]) AS age FROM health.visits",
    "volatile": "SELECT colour, age FROM health.visits WHERE rand() % 2 = 0",
    "place": "SELECT colour, age FROM health.visits WHERE _part_offset < 10",
}


@pytest.mark.sampled
@pytest.mark.parametrize("shift", SHIFTS)
def test_a_row_that_decides_on_others_is_refused(connection, curator, owner, shift):
    owner(f"CREATE VIEW health.odd AS {SHIFTS[shift]}")
    for fields in ({"table": "odd", "schema": "health"}, {"query": SHIFTS[shift]}):
        table = SharedTable.objects.create(connection=connection, title=str(fields), **fields)
        refused = connected(table, curator, declared=False)
        assert str(definitions.SHIFTS[shift]) in refused.conversion.failure


def test_rows_that_are_taken_by_the_marks_of_their_part_are_refused(connection, curator):
    """`indexHint` passes all rows of a granule, whose ends move with every row before it."""
    query = "SELECT colour, age FROM health.visits WHERE indexHint(age = 5)"
    table = SharedTable.objects.create(connection=connection, title="Hint", query=query)
    refused = connected(table, curator, declared=False)
    assert str(definitions.SHIFTS["place"]) in refused.conversion.failure


# Before the line of a table, which then looks like what a query reads FROM.
FEIGNED = f"`a\n{' ' * 9}JOIN TREE\n{' ' * 14}CONSTANT`"
UNSEEN_BY_THEIR_WORDS = {
    "a table": ("subquery", f"{SEEN} WHERE colour IN health.flagged"),
    "no table": ("subquery", f"{SEEN} WHERE colour NOT IN health.flagged"),
    "a table, or NULL": ("subquery", f"{SEEN} WHERE nullIn(colour, health.flagged)"),
    "a table, by a column that is made": ("subquery", "SELECT colour, age, known FROM health.made"),
    "numbers between": ("rows", f"{SEEN} ORDER BY age WITH FILL"),
    "a name that hides a line": ("limit", f"SELECT *, 1 AS `a\n PROJECTION COLUMNS` FROM ({SEEN}) LIMIT 9"),
    "a name that feigns a line": (
        "unknown",
        f"SELECT colour, age FROM (SELECT *, colour AS {FEIGNED} FROM ({SEEN})) WHERE {FEIGNED} IN health.flagged",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize(("shift", "query"), UNSEEN_BY_THEIR_WORDS.values(), ids=UNSEEN_BY_THEIR_WORDS)
def test_what_asks_or_makes_others_without_a_word_of_its_own_is_refused(
    connection, curator, owner, shift, query
):
    """The rows of p0 decide whether those of the same colours are there, or where the numbers begin."""
    owner("CREATE VIEW health.flagged AS SELECT colour FROM health.visits WHERE patient = 'p0'")
    owner(
        """CREATE TABLE health.made (colour String, age Int32, known UInt8 ALIAS colour IN health.flagged)
        ENGINE = Memory"""
    )
    owner(f"CREATE VIEW health.odd AS {query}")
    for fields in ({"table": "odd", "schema": "health"}, {"query": query}):
        table = SharedTable.objects.create(connection=connection, title=str(fields), **fields)
        refused = connected(table, curator, declared=False)
        assert str(definitions.SHIFTS[shift]) in refused.conversion.failure


# Tables of the columns of the visits and a sign, whose two rows of two persons are one once they were merged.
MERGING = {
    "Replacing": "ReplacingMergeTree ORDER BY colour",
    "Summing": "SummingMergeTree ORDER BY colour",
    "Aggregating": "AggregatingMergeTree ORDER BY colour",
    "Coalescing": "CoalescingMergeTree ORDER BY colour",
    "Collapsing": "CollapsingMergeTree(sign) ORDER BY colour",
    "VersionedCollapsing": "VersionedCollapsingMergeTree(sign, version) ORDER BY colour",
    "grouped when they expire": """MergeTree ORDER BY colour
        TTL toDateTime('2000-01-01 00:00:00') + toIntervalDay(age) GROUP BY colour SET age = max(age)""",
    "expired": "MergeTree ORDER BY colour TTL toDateTime('2000-01-01 00:00:00') + toIntervalDay(age)",
    "so many at most": "Memory SETTINGS max_rows_to_keep = 1, min_rows_to_keep = 1",
}


class TestATableThatMergesItsRowsLater:
    def refused(self, connection, curator, name: str) -> SharedTable:
        table = SharedTable.objects.create(connection=connection, title=name, schema="health", table=name)
        dataset = connected(table, curator, declared=False)
        assert str(definitions.SHIFTS["merged"]) in dataset.conversion.failure
        return table

    @pytest.mark.parametrize("engine", MERGING.values(), ids=MERGING)
    def test_is_refused_as_the_engine_makes_less_than_two_rows_of_two_persons(
        self, connection, curator, owner, engine
    ):
        owner(
            f"""CREATE TABLE health.merging (colour String, age Int32, patient String, sign Int8, version UInt8)
            ENGINE = {engine}"""
        )
        for values in ("('red', 1, 'p1', 1, 0)", "('red', 2, 'p2', -1, 0)"):
            owner(f"INSERT INTO health.merging VALUES {values}")
        if "MergeTree" in engine:
            owner("OPTIMIZE TABLE health.merging FINAL")
        assert int(owner("SELECT count() FROM health.merging")) < 2
        self.refused(connection, curator, "merging")

    @pytest.mark.parametrize(
        "made", ["VIEW health.merged", "MATERIALIZED VIEW health.merged TO health.merging"]
    )
    def test_needs_an_administrators_word_behind_a_view_too(self, connection, curator, owner, made):
        owner(f"CREATE TABLE health.merging ENGINE = ReplacingMergeTree ORDER BY age EMPTY AS {SEEN}")
        owner(f"CREATE {made} AS {SEEN.replace('visits', 'visits' if ' TO ' in made else 'merging')}")
        table = self.refused(connection, curator, "merged")
        table.vouched = "The key has the patient in it."
        table.save()
        assert connected(table, curator, declared=False).has_records

    def test_is_another_with_another_key(self, connection, owner, curator, administrator):
        """Of what an administrator's word is for."""
        create = f"CREATE OR REPLACE TABLE health.merging ENGINE = ReplacingMergeTree ORDER BY {{}} AS {SEEN}"
        owner(create.format("(patient, age, colour)"))
        table = SharedTable.objects.create(
            connection=connection, title="Merging", schema="health", table="merging", vouched="By patient."
        )
        dataset = building.granted(connected(table, curator), administrator)
        owner(create.format("colour"))
        assert "health.merging is defined in another way" in released(dataset).job.failure


def test_a_refresh_that_adds_its_rows_again_is_refused(connection, curator, owner):
    owner(
        "CREATE TABLE health.target (colour String, age Int32, patient String) ENGINE = MergeTree ORDER BY age"
    )
    for name, how in (("appended", "APPEND"), ("replaced", "")):
        owner(f"CREATE MATERIALIZED VIEW health.{name} REFRESH EVERY 1 YEAR {how} TO health.target AS {SEEN}")
    attached = [
        connected(
            SharedTable.objects.create(connection=connection, title=name, schema="health", table=name),
            curator,
        )
        for name in ("appended", "replaced")
    ]
    assert str(definitions.SHIFTS["append"]) in attached[0].conversion.failure
    assert attached[1].has_records, attached[1].conversion.failure


def test_a_row_policy_is_read_as_a_condition_is(connection, curator, owner):
    """The policies are those of `tests/clickhouses.py`: one asks the other table, the other the row alone."""
    assert clickhouses.POLICIES.keys() == {"asking", "young"}
    attached = {}
    for name in clickhouses.POLICIES:
        owner(f"CREATE TABLE health.{name} ENGINE = MergeTree ORDER BY age AS {SEEN}")
        table = SharedTable.objects.create(connection=connection, title=name, schema="health", table=name)
        attached[name] = connected(table, curator)
    assert str(definitions.SHIFTS["subquery"]) in attached["asking"].conversion.failure
    assert attached["young"].has_records, attached["young"].conversion.failure
    assert owner("SELECT count() FROM health.young") == b"150\n"


def test_where_policies_are_not_to_be_seen_an_administrator_is_asked(
    connection, visits, curator, administrator
):
    """Of a user who may not read them one could ask about other rows; a grant of that right later changes nothing."""
    connection.user = "unaware"
    connection.save()
    assert str(definitions.SHIFTS["policies"]) in connected(visits, curator).conversion.failure
    visits.vouched = "There are no row policies on this server."
    visits.save()
    dataset = building.granted(connected(visits, curator), administrator)
    assert released(dataset).is_ready
    connection.user = "reader"
    connection.save()
    assert released(dataset).is_ready


@pytest.mark.parametrize(
    "made",
    [
        f"VIEW health.plain AS SELECT * FROM (SELECT * FROM ({SEEN}) WHERE age IN (1, 2, 3) ORDER BY age)",
        f"VIEW health.plain AS WITH plain AS ({SEEN}) SELECT * FROM plain",
        f"MATERIALIZED VIEW health.plain ENGINE = MergeTree ORDER BY age POPULATE AS {SEEN}",
        "TABLE health.plain (colour String, age Int32 COMMENT 'TTL', `TTL` Int8) ENGINE = Memory",
        "TABLE health.plain (`age\\\\n` Int32) ENGINE = StripeLog",
    ],
)
def test_what_leaves_each_row_its_own_way_is_not(connection, curator, owner, made):
    owner(f"CREATE {made}")
    table = SharedTable.objects.create(connection=connection, title="Plain", schema="health", table="plain")
    dataset = connected(table, curator, declared=False)
    assert dataset.has_records, dataset.conversion.failure
