"""A view that changes under a declaration, and views in which a row of one person decides on others'."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import attach_table, services
from dpportal.datasets.models import Dataset
from dpportal.releases import execution
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.engines import definitions
from dpportal.tables.engines.postgres import session as postgres
from tests.dpportal import building
from tests.dpportal.tables.connections import refusals
from tests.dpportal.tables.connections.conftest import READER, connected
from tests.dpportal.tables.connections.refusals import Failing, accepted, released

pytestmark = pytest.mark.postgres
SEEN = "SELECT colour, age, patient FROM health.visits"


@pytest.fixture
def seen(connection, owner) -> SharedTable:
    """A view of a view of the visits."""
    owner.execute(f"CREATE VIEW health.inner_seen AS {SEEN}")
    owner.execute("CREATE VIEW health.seen AS SELECT * FROM health.inner_seen WHERE age >= 0")
    return SharedTable.objects.create(connection=connection, title="Seen", schema="health", table="seen")


@pytest.fixture
def viewed(seen, curator, administrator) -> Dataset:
    return building.granted(connected(seen, curator), administrator)


# Offered queries in which a quotation mark, or what looks like a comment, stands before the name of a view.
HIDING = {
    "dashes in a text": "SELECT coalesce(colour, '--') AS colour, age, patient FROM health.seen",
    "a mark in a name": """SELECT colour, age, patient, 1 AS "one's" FROM health.seen WHERE colour <> 'x'""",
    "a mark after a backslash": r"SELECT colour, age, patient, E'\'' AS m FROM health.seen WHERE colour <> ''",
    "a mark between dollars": "SELECT colour, age, patient, $m$'$m$ AS m FROM health.seen WHERE colour <> 'x'",
    "a mark in a comment": "SELECT colour, age, patient /* a /* b */ ' */ FROM health.seen WHERE colour <> 'x'",
    "a name by its code": r'SELECT colour, age, patient FROM health.U&"s\0065en"',
    "a code after another sign": "SELECT colour, age, patient FROM health.U&\"s!0065en\" -- '\n UESCAPE '!'",
}


class TestAChange(Failing):
    def test_to_nothing_is_none(self, viewed, owner):
        owner.execute(f"CREATE OR REPLACE VIEW health.inner_seen AS {SEEN}")
        assert released(viewed).is_ready

    @pytest.mark.parametrize(
        "instead",
        ["SELECT colour, age, patient FROM health.others", f"{SEEN} CROSS JOIN generate_series(1, 5)"],
        ids=["another table", "five of each row"],
    )
    def test_of_a_view_within_the_view(self, viewed, owner, instead):
        owner.execute("CREATE TABLE health.others AS SELECT * FROM health.visits")
        owner.execute(f"CREATE OR REPLACE VIEW health.inner_seen AS {instead}")
        failure = self.failed(viewed)
        assert "health.inner_seen is defined in another way" in failure and "Ask an administrator" in failure

    @pytest.mark.parametrize(
        "change",
        [
            "ALTER TABLE health.visits ADD weight int",
            "ALTER TABLE health.visits RENAME TO contacts",
            "ALTER TABLE health.visits ENABLE ROW LEVEL SECURITY",
            "CREATE TABLE health.more () INHERITS (health.visits)",
        ],
    )
    def test_of_the_table_under_the_view(self, viewed, owner, change):
        owner.execute(change)
        assert "changed since" in self.failed(viewed)

    @pytest.mark.parametrize("view", ["VIEW", "MATERIALIZED VIEW"])
    def test_of_a_function_in_a_view(self, connection, curator, administrator, owner, view):
        body = "CREATE OR REPLACE FUNCTION health.older(int) RETURNS int IMMUTABLE LANGUAGE {} AS $${}$$"
        owner.execute(body.format("plpgsql", "BEGIN RETURN $1; END"))
        owner.execute(
            f"CREATE {view} health.aged AS SELECT colour, health.older(age) AS age, patient FROM health.visits"
        )
        table = SharedTable.objects.create(connection=connection, title="Aged", schema="health", table="aged")
        dataset = building.granted(connected(table, curator), administrator)
        owner.execute(body.format("plpgsql", "BEGIN RETURN $1 + 1; END"))
        assert "health.older(integer) is defined in another way" in self.failed(dataset)

    def test_of_an_operator_in_an_offered_query(self, connection, curator, administrator, owner):
        head = "CREATE OR REPLACE FUNCTION health.over(int, int) RETURNS bool IMMUTABLE LANGUAGE sql"
        body = f"{head} AS 'SELECT $1 {{}} $2'"
        owner.execute(body.format(">"))
        owner.execute("CREATE OPERATOR health.>> (FUNCTION = health.over, LEFTARG = int, RIGHTARG = int)")
        query = f"{SEEN} WHERE age OPERATOR(health.>>) 1"
        table = SharedTable.objects.create(connection=connection, title="Over", query=query)
        dataset = building.granted(connected(table, curator), administrator)
        owner.execute(body.format("<"))
        assert "health.over(integer,integer) is defined in another way" in self.failed(dataset)

    def test_of_a_view_that_an_offered_query_names(self, seen, connection, curator, administrator, owner):
        query = "SELECT colour, age, patient FROM health.inner_seen WHERE age < 50 -- health.visits"
        table = SharedTable.objects.create(connection=connection, title="Young", query=query)
        dataset = building.granted(connected(table, curator), administrator)
        assert released(dataset).is_ready
        owner.execute(f"CREATE OR REPLACE VIEW health.inner_seen AS {SEEN} WHERE age > 10")
        release = building.requested_release(dataset)
        execution.RELEASES.run(release.pk)
        release.refresh_from_db()
        assert "health.inner_seen is defined in another way" in release.job.failure

    @pytest.mark.parametrize("query", HIDING.values(), ids=HIDING.keys())
    def test_of_a_view_whose_name_stands_behind_what_is_no_text(
        self, seen, connection, curator, administrator, owner, query
    ):
        table = SharedTable.objects.create(connection=connection, title="Hidden", query=query)
        dataset = building.granted(connected(table, curator), administrator)
        owner.execute(f"CREATE OR REPLACE VIEW health.inner_seen AS {SEEN} WHERE age > 10")
        assert "health.inner_seen is defined in another way" in self.failed(dataset)

    def test_after_the_snapshot_and_before_the_count(self, viewed, owner, monkeypatch):
        """What the snapshot still shows as it was is planned as it is."""
        begin = postgres._begun

        def begun(*where):
            session = begin(*where)
            owner.execute(f"CREATE OR REPLACE VIEW health.inner_seen AS {SEEN} WHERE age > 10")
            return session

        monkeypatch.setattr(postgres, "_begun", begun)
        assert "health.inner_seen is defined in another way" in self.failed(viewed)

    def test_is_accepted_by_an_administrator_alone(self, viewed, owner, client, curator):
        owner.execute(f"CREATE OR REPLACE VIEW health.inner_seen AS {SEEN} WHERE age > 10")
        chosen = {"action": "follow_tables", "_selected_action": [viewed.pk], "reason": "I say so."}
        client.force_login(curator)
        assert client.post(reverse("admin:datasets_dataset_changelist"), chosen).status_code in (302, 403)
        assert "changed since" in self.failed(viewed)
        accepted(viewed)
        assert "health.inner_seen is defined" in AuditEntry.objects.get(action="followed a table").detail
        assert released(viewed).is_ready

    def test_is_accepted_only_as_it_was_shown(self, viewed, owner, administrator):
        shown = attach_table.difference(viewed).mark
        owner.execute(f"CREATE OR REPLACE VIEW health.inner_seen AS {SEEN} WHERE age > 10")
        with pytest.raises(services.DatasetError, match="changed again"):
            attach_table.follow(viewed, administrator, mark=shown, reason="The same people.")


SHIFTS = {
    **refusals.SHIFTS,
    "sample": f"{SEEN} TABLESAMPLE BERNOULLI (10)",
    "rows": "SELECT colour, generate_series(1, age) AS age FROM health.visits",
    "volatile": f"{SEEN} WHERE random() < 0.5",
    "place": f"{SEEN} WHERE ctid < '(0,9)'",
}
COUNTING = "SELECT count(*) > 10 FROM health.visits"
# Functions that say of themselves that they look at their arguments alone.
UNTRUE = {
    "by its text": f"LANGUAGE sql AS '{COUNTING}'",
    "by what it was made of": f"LANGUAGE sql BEGIN ATOMIC {COUNTING}; END",
    "by words": f"LANGUAGE plpgsql AS $$DECLARE r bool; BEGIN EXECUTE '{COUNTING}' INTO r; RETURN r; END$$",
    "on its own path": "LANGUAGE sql SET search_path = health AS 'SELECT count(*) > 10 FROM visits'",
}
READERS = {
    "a role that no policy holds": f"ALTER ROLE {READER} BYPASSRLS",
    "the table's owner": f"ALTER TABLE health.visits OWNER TO {READER}",
    "the owner's equal": f"GRANT {READER}_others TO {READER}",
}


OWN = "CREATE FUNCTION health.{} IMMUTABLE LANGUAGE sql AS 'SELECT {}'"
# Somebody's own operators and casts, by which a query asks without naming a function.
UNNAMED = {
    "OPERATOR(health.=&)": [
        OWN.format("near(int, int) RETURNS bool", COUNTING[7:]),
        "CREATE OPERATOR health.=& (FUNCTION = health.near, LEFTARG = int, RIGHTARG = int)",
        f"{SEEN} WHERE age OPERATOR(health.=&) 3",
    ],
    "~~": [
        OWN.format("near(text, int) RETURNS bool", COUNTING[7:]),
        "CREATE OPERATOR public.~~ (FUNCTION = health.near, LEFTARG = text, RIGHTARG = int)",
        f"{SEEN} WHERE colour LIKE age",
    ],
    "cast": [
        "CREATE TYPE health.many AS (n bool)",
        OWN.format("near(int) RETURNS health.many", f"ROW(({COUNTING}))::health.many"),
        "CREATE CAST (int AS health.many) WITH FUNCTION health.near(int) AS IMPLICIT",
        f"{SEEN} WHERE (age::health.many).n",
    ],
}


class TestRowsThatAPolicyHides(Failing):
    """Whose eyes they are hidden from is part of what a table is: the versions of a row that is hidden, too."""

    @pytest.fixture
    def hidden(self, connection, curator, administrator, owner) -> Iterator[Dataset]:
        other = f"{READER}_others"
        owner.execute(
            f"""CREATE ROLE {other}; ALTER TABLE health.visits OWNER TO {other};
            GRANT USAGE, CREATE ON SCHEMA health TO {READER}; ALTER TABLE health.visits ENABLE ROW LEVEL SECURITY;
            CREATE POLICY newest ON health.visits TO {READER} USING (age < 20);
            CREATE VIEW health.seen AS {SEEN}; ALTER VIEW health.seen OWNER TO {READER}"""
        )
        table = SharedTable.objects.create(connection=connection, title="Seen", schema="health", table="seen")
        yield building.granted(connected(table, curator), administrator)
        owner.execute(f"ALTER ROLE {READER} NOBYPASSRLS; DROP SCHEMA health CASCADE; DROP ROLE {other}")

    def test_from_nobody_else_is_no_change(self, hidden, owner):
        owner.execute(f"CREATE POLICY others ON health.visits FOR DELETE TO {READER}_others USING (true)")
        owner.execute("DROP POLICY others ON health.visits")
        assert released(hidden).is_ready

    @pytest.mark.parametrize("change", READERS.values(), ids=READERS.keys())
    def test_and_are_seen_by_a_change_of_the_role(self, hidden, owner, change):
        owner.execute(change)
        assert "health.visits is defined in another way" in self.failed(hidden)


class TestOneRowThatDecidesOnOthers:
    @pytest.mark.parametrize("shift", SHIFTS)
    def test_is_refused_by_what_it_does(self, connection, curator, owner, shift):
        owner.execute(f"CREATE VIEW health.odd AS {SHIFTS[shift]}")
        owner.execute("ANALYZE health.visits")
        for fields in ({"table": "odd", "schema": "health"}, {"query": SHIFTS[shift]}):
            table = SharedTable.objects.create(connection=connection, title=str(fields), **fields)
            refused = connected(table, curator, declared=False)
            assert refused.state == Dataset.State.REFUSED
            assert str(definitions.SHIFTS[shift]) in refused.conversion.failure

    @pytest.mark.parametrize("age", ["age('3'::xid)", "mxid_age('3'::xid)"])
    def test_so_is_one_that_counts_transactions(self, connection, curator, age):
        query = f"{SEEN} WHERE {age} % 2 = 0"
        table = SharedTable.objects.create(connection=connection, title="Odd", query=query)
        refused = connected(table, curator, declared=False)
        assert refused.state == Dataset.State.REFUSED
        assert str(definitions.SHIFTS["place"]) in refused.conversion.failure

    @pytest.mark.parametrize(
        "condition",
        [
            "pg_stat_get_live_tuples('health.visits'::regclass) > 100",
            "table_to_xml('health.visits', true, true, '')::text LIKE '%red%'",
            "current_setting('register.year', true) = '2024'",
            "pg_snapshot_xmax(pg_current_snapshot())::text LIKE '%1'",
        ],
    )
    def test_is_refused_where_the_servers_own_function_reads_more_than_its_row(
        self, connection, curator, condition
    ):
        query = f"{SEEN} WHERE {condition}"
        table = SharedTable.objects.create(connection=connection, title="Odd", query=query)
        assert "depends on more than its row" in connected(table, curator, declared=False).conversion.failure

    def test_is_refused_behind_a_mark_in_a_name(self, connection, curator, owner):
        owner.execute(
            f"""CREATE VIEW health.odd AS SELECT * FROM (SELECT *, colour AS "one's" FROM ({SEEN}) AS v) AS w
            WHERE "one's" = 'red' AND random() < '0.5'::float"""
        )
        owner.execute("""ALTER TABLE health.visits RENAME colour TO "one's" """)
        table = SharedTable.objects.create(connection=connection, title="Odd", schema="health", table="odd")
        assert "depends on more than its row" in connected(table, curator, declared=False).conversion.failure

    @pytest.mark.parametrize("function", UNTRUE.values(), ids=UNTRUE.keys())
    def test_is_refused_where_a_function_is_called_immutable_and_reads_a_table(
        self, connection, curator, owner, function
    ):
        owner.execute(f"CREATE FUNCTION health.enough() RETURNS bool IMMUTABLE {function}")
        owner.execute(f"CREATE VIEW health.odd AS {SEEN} WHERE health.enough()")
        for fields in ({"table": "odd", "schema": "health"}, {"query": f"{SEEN} WHERE health.enough()"}):
            table = SharedTable.objects.create(connection=connection, title=str(fields), **fields)
            refused = connected(table, curator, declared=False)
            assert "function in it may read other rows" in refused.conversion.failure

    @pytest.mark.parametrize("made", UNNAMED.values(), ids=UNNAMED.keys())
    def test_is_refused_where_no_function_is_named(self, connection, curator, owner, made):
        *statements, query = made
        for statement in statements:
            owner.execute(statement)
        table = SharedTable.objects.create(connection=connection, title="Odd", query=query)
        assert "function in it may read other rows" in connected(table, curator).conversion.failure

    def test_is_not_seen_in_operators_of_an_extension(self, connection, curator, owner):
        owner.execute("CREATE EXTENSION citext SCHEMA health")
        table = SharedTable.objects.create(
            connection=connection, title="Plain", query=f"{SEEN} WHERE age = 3"
        )
        assert connected(table, curator, declared=False).has_records

    def test_of_a_materialised_view_is_seen_in_its_query(self, connection, curator, owner):
        owner.execute(f"CREATE MATERIALIZED VIEW health.first AS {SEEN} LIMIT 10")
        table = SharedTable.objects.create(
            connection=connection, title="First", schema="health", table="first"
        )
        assert "takes only some of the rows" in connected(table, curator).conversion.failure

    def test_is_offered_on_an_administrators_word(self, connection, curator, administrator):
        query = f"{SEEN} CROSS JOIN (VALUES (1), (2)) AS two"
        table = SharedTable.objects.create(
            connection=connection, title="Joined", query=query, vouched="One row."
        )
        dataset = building.granted(connected(table, curator), administrator)
        SharedTable.objects.update(vouched="")
        dataset.source.refresh_from_db()
        assert "may decide on rows of others" in released(dataset).job.failure

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT upper(colour) AS colour, age + 1 AS age FROM health.visits WHERE age BETWEEN 3 AND 90 ORDER BY age",
            "SELECT * FROM (SELECT colour, coalesce(age, 0) AS age FROM health.visits) AS v WHERE colour ~ 'e'",
            "SELECT * FROM health.years",
        ],
    )
    def test_is_not_seen_where_each_row_goes_its_own_way(self, connection, curator, owner, query):
        owner.execute(
            """CREATE TABLE health.years (colour text, age int) PARTITION BY RANGE (age);
            CREATE TABLE health.young PARTITION OF health.years FOR VALUES FROM (0) TO (50);
            CREATE TABLE health.old PARTITION OF health.years FOR VALUES FROM (50) TO (100)"""
        )
        table = SharedTable.objects.create(connection=connection, title="Plain", query=query)
        dataset = connected(table, curator, declared=False)
        assert dataset.has_records, dataset.conversion.failure


def test_a_signed_word_is_recorded_and_is_for_one_query(client, administrator, visits):
    client.force_login(administrator)
    address = reverse("admin:connections_connection_change", args=[visits.connection_id])
    page = client.get(address)
    form = {
        name: value
        for shown in (page.context["adminform"].form, *page.context["inline_admin_formsets"][0].formset.forms)
        for bound in shown
        for name, value in [(bound.html_name, bound.value())]
        if value not in (None, False, [])
    }
    form |= {"tables-TOTAL_FORMS": 1, "tables-INITIAL_FORMS": 1, "tables-0-vouched": "One row a patient."}
    assert client.post(address, form).status_code == 302
    assert AuditEntry.objects.get(action="vouched for a table").detail == "One row a patient."
    answer = client.post(address, {**form, "tables-0-table": "others"})
    assert "This word was for another table" in answer.content.decode()
