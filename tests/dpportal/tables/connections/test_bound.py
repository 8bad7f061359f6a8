"""What a source of PostgreSQL is bound to, where its words stay as they are or say less than the server reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpportal.datasets.models import Dataset
from dpportal.tables.connections.models import SharedTable
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import READER, connected
from tests.dpportal.tables.connections.refusals import Failing, accepted, released

pytestmark = pytest.mark.postgres
WORD = "Each row is of one person."
SEEN = "SELECT colour, age, patient FROM health.visits"
# The server makes only letters of ASCII small, and takes every sign beyond ASCII for a letter.
NAMES = {
    "a capital beyond ASCII": "Übersicht",
    "no letter of ASCII": "ИСТОРИЯ",
    "an accent of its own": "cafe\u0301",
    "signs of vowels": "कर्मचारी",
    "a blank that is none": "a\u00a0b",
    "a picture": "seen\U0001f600",
}
UNSTEADY = {
    "a query in a text": "RETURN query_to_xml('SELECT 1 FROM health.visits', true, true, '')::text LIKE '%row%'",
    "a counter of rows": "PERFORM set_config('a.b', '1', false); RETURN true",
    "a coin": "RETURN random () < 0.5",
}
SWAPS = {
    "the table": """ALTER TABLE health.visits RENAME TO former; ALTER TABLE health.five RENAME TO visits;
        GRANT SELECT ON health.visits TO {reader}""",
    "an heir": """ALTER TABLE health.later NO INHERIT health.visits; ALTER TABLE health.later RENAME TO former;
        ALTER TABLE health.five RENAME TO later; ALTER TABLE health.later INHERIT health.visits""",
}


@pytest.fixture
def dataset(connection, curator, administrator):
    """Makes a granted dataset of an offered table or query."""

    def made(**fields: str) -> Dataset:
        table = SharedTable.objects.create(connection=connection, title=str(fields), **fields)
        return building.granted(connected(table, curator), administrator)

    return made


@pytest.fixture
def on_the_path(owner) -> Iterator[None]:
    owner.execute(f"ALTER ROLE {READER} SET search_path = health")
    yield
    owner.execute(f"ALTER ROLE {READER} RESET search_path")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
class TestANameWithoutQuotationMarks(Failing):
    def test_is_read_as_the_server_reads_it(self, dataset, owner, name):
        owner.execute(f"CREATE VIEW health.{name} AS {SEEN}")
        queried = dataset(query=f"SELECT * FROM health.{name}")
        owner.execute(f"CREATE OR REPLACE VIEW health.{name} AS {SEEN} WHERE age > 10")
        assert "is defined in another way" in self.failed(queried)


@pytest.mark.parametrize("language", ["plpgsql AS $$BEGIN {}; END$$", "sql BEGIN ATOMIC SELECT {}; END"])
@pytest.mark.parametrize("body", UNSTEADY.values(), ids=UNSTEADY.keys())
def test_a_function_is_not_believed_that_it_is_immutable(connection, curator, owner, body, language):
    if "ATOMIC" in language:
        body = (
            body.rpartition("RETURN ")[2] if "PERFORM" not in body else "set_config('a.b', '1', false) > ''"
        )
    owner.execute(f"CREATE FUNCTION health.enough() RETURNS bool IMMUTABLE LANGUAGE {language.format(body)}")
    owner.execute(f"CREATE VIEW health.odd AS {SEEN} WHERE health.enough()")
    for fields in ({"table": "odd", "schema": "health"}, {"query": f"{SEEN} WHERE health.enough()"}):
        table = SharedTable.objects.create(connection=connection, title=str(fields), **fields)
        refused = connected(table, curator, declared=False)
        assert "depends on more than its row" in refused.conversion.failure


class TestATableUnderAView(Failing):
    @pytest.fixture
    def seen(self, dataset, owner) -> Dataset:
        owner.execute("CREATE TABLE health.five (LIKE health.visits)")
        owner.execute("INSERT INTO health.five SELECT v.* FROM health.visits AS v, generate_series(1, 5)")
        owner.execute("CREATE TABLE health.later () INHERITS (health.visits)")
        owner.execute(f"CREATE VIEW health.seen AS {SEEN}")
        return dataset(schema="health", table="seen", vouched=WORD)

    @pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS.keys())
    def test_is_the_same_by_more_than_its_name(self, seen, owner, swap):
        owner.execute(swap.format(reader=READER))
        owner.execute(f"CREATE OR REPLACE VIEW health.seen AS {SEEN}")
        assert "is defined in another way" in self.failed(seen)
        accepted(seen)
        assert released(seen).is_ready

    def test_is_the_same_when_its_rows_are_written_anew(self, seen, owner):
        owner.execute("CREATE TABLE health.kept AS SELECT * FROM health.visits; TRUNCATE health.visits")
        owner.execute("INSERT INTO health.visits SELECT * FROM health.kept")
        owner.execute("VACUUM FULL health.visits")
        owner.execute(f"DROP VIEW health.seen; CREATE VIEW health.seen AS {SEEN}")
        assert released(seen).is_ready


class TestATableThatAnAliasIsCalledAs(Failing):
    def test_is_the_same_by_more_than_its_name(self, dataset, owner, on_the_path):
        owner.execute("CREATE TABLE health.five AS TABLE health.visits")
        owner.execute(f"CREATE VIEW health.seen AS {SEEN}")
        queried = dataset(query="SELECT visits.colour, visits.age, visits.patient FROM seen AS visits")
        owner.execute(SWAPS["the table"].format(reader=READER))
        owner.execute(f"CREATE OR REPLACE VIEW health.seen AS {SEEN}")
        assert "visits is defined in another way" in self.failed(queried)


def test_a_table_that_is_offered_itself_may_be_another_one_each_night(dataset, owner):
    offered = dataset(schema="health", table="visits")
    owner.execute("CREATE TABLE health.tonight AS SELECT * FROM health.visits; DROP TABLE health.visits")
    owner.execute("ALTER TABLE health.tonight RENAME TO visits")
    assert released(offered).is_ready


def test_a_materialised_view_of_what_nobody_may_read_is_counted_on_a_signed_word(dataset, owner):
    owner.execute("CREATE SCHEMA hidden; ALTER TABLE health.visits SET SCHEMA hidden")
    owner.execute("CREATE MATERIALIZED VIEW health.seen AS SELECT colour, age, patient FROM hidden.visits")
    try:
        release = released(dataset(schema="health", table="seen", vouched=WORD))
        assert release.is_ready, release.job.failure
    finally:
        owner.execute("DROP SCHEMA hidden CASCADE")
