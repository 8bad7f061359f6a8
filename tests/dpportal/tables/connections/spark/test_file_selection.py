"""Of folders that are read by their path, the files count that a condition on the folders' names leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from dpportal.datasets import records, services
from dpportal.datasets.models import Dataset
from dpportal.tables.connections.faults import SourceFault
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.engines.spark import session as speaking
from dpportal.tables.engines.spark.file_selection import SELECTING
from mechanisms.domain import Integer
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import connected
from tests.dpportal.tables.connections.refusals import Failing

pytestmark = pytest.mark.spark
DAYS = 12
# A condition on the names of folders, and the folders that it leaves.
CONDITIONS = {
    "day = '2026-11-03'": "day=2026-11-03/*",
    "day = '2026-11-03' AND ward = 'c'": "day=2026-11-03/ward=c/*",
    "CAST(day AS DATE) = DATE'2026-11-03'": "day=2026-11-03/*",
    "try_cast(substr(day, 9) AS INT) < 10 AND age > 4": "day=2026-11-0*",
    "day LIKE '2026-11-0%' AND rand() < 2": "day=2026-11-0*",
    "day BETWEEN '2026-11-10' AND '2026-11-12'": "day=2026-11-1*",
    "day IN ('2026-11-10', '2026-11-11', '2026-11-12') AND (ward = 'a' OR age = 3)": "day=2026-11-1*",
    "(day LIKE '%-01' AND ward = 'b') OR (day LIKE '%-11' AND ward = 'b')": "day=2026-11-?1/ward=b/*",
    "day = '2026-12-01'": "nothing",
}
TWO_LINES = "two\nlines"
ODD = ("a b", "a=b", "x), (day#1 = y", "ü/ß", "it's", "%41", "*", TWO_LINES)


@pytest.fixture(scope="module")
def lake(register, tmp_path_factory) -> Path:
    """A folder of Parquet files by days and wards, and one of CSV files by days."""
    return tmp_path_factory.mktemp("lake")


@pytest.fixture
def write(lake, owner) -> Callable[..., Path]:
    """Writes a folder of folders once, a hundred rows of the ages 0 to 99 into each."""

    def of(folder: str, names: Mapping[str, Sequence[str]], kind: str = "parquet") -> Path:
        """names: what folders are called, one level after the other; of all levels as many."""
        if (lake / folder).exists():
            return lake / folder
        columns = ", ".join(names)
        texts = ", ".join(f"element_at({_array(values)}, i + 1) AS {name}" for name, values in names.items())
        number = len(next(iter(names.values())))
        owner(
            f"CREATE TABLE health.{folder} (age INT, {columns.replace(',', ' STRING,')} STRING) USING {kind} "
            f"PARTITIONED BY ({columns}) LOCATION '{lake}/{folder}'"
        )
        ages = f"SELECT CAST(id % 100 AS INT) AS age, CAST(id DIV 100 AS INT) AS i FROM range({number}00)"
        owner(f"INSERT INTO health.{folder} SELECT age, {texts} FROM ({ages})")
        return lake / folder

    return of


def _array(texts: Sequence[str]) -> str:
    escaped = [text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") for text in texts]
    return "array(" + ", ".join(f"'{text}'" for text in escaped) + ")"


@pytest.fixture
def visits_by_day(write) -> Path:
    days = [f"2026-11-{day:02d}" for day in range(1, DAYS + 1)]
    wards = ["abc"[day % 3] for day in range(1, DAYS + 1)]
    return write("visits_by_day", {"day": [*days, "2026-11-03"], "ward": [*wards, "c"]})


@pytest.fixture
def session(connection) -> Iterator[speaking.SparkReadSession]:
    """One that is allowed nothing, so that whatever is expected is looked at closely."""
    connection.most_bytes = 1
    with speaking.reading(connection) as session:
        yield session


def size(folder: Path, pattern: str = "*") -> int:
    """The bytes of the files under a folder whose path matches."""
    files = [file for file in folder.rglob("part-*") if file.is_file()]
    return sum(file.stat().st_size for file in files if fnmatch(str(file.relative_to(folder)), pattern))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_as_many_bytes_are_expected_as_a_condition_leaves(session, visits_by_day, condition):
    query = f"SELECT age, count(*) AS n FROM parquet.`{visits_by_day}` WHERE {condition} GROUP BY age"
    assert session._expected(query).bytes == size(visits_by_day, CONDITIONS[condition])


@pytest.mark.parametrize("name", ODD)
def test_a_folder_may_have_an_odd_name(session, write, name):
    folder = write("odd", {"of": ODD})
    query = f"SELECT age FROM parquet.`{folder}` WHERE of = {_array([name])}[0]"
    # What has two lines cannot be told from two steps of a plan: there all count.
    folders = len(ODD) if name == TWO_LINES else 1
    assert session._expected(query).bytes == pytest.approx(size(folder) / len(ODD) * folders, rel=0.3)


def test_files_that_say_no_types(session, write):
    folder = write("texts", {"day": "123"}, "csv")
    query = f"SELECT _c0 FROM csv.`{folder}` WHERE day > '1'"
    assert session._expected(query).bytes == size(folder, "day=[23]/*")


def test_of_two_folders_that_are_joined_each_counts(session, visits_by_day, write):
    more = write("more", {"day": "123"})
    both = size(visits_by_day, "day=2026-11-01/*") + size(more, "day=2/*")
    first = f"(SELECT age FROM parquet.`{visits_by_day}` WHERE day = '2026-11-01')"
    second = f"(SELECT age FROM parquet.`{more}` WHERE day = '2')"
    joined = f"SELECT a.age FROM {first} AS a JOIN {second} AS b ON a.age = b.age"
    assert session._expected(joined).bytes == both
    assert session._expected(f"SELECT * FROM {first} UNION ALL SELECT * FROM {second}").bytes == both


def test_a_table_whose_partitions_the_catalog_does_not_have(session, owner):
    tracked = "spark.sql.hive.manageFilesourcePartitions"
    session.spark.conf.set(tracked, "false")
    session.spark.sql("DROP TABLE IF EXISTS health.folders")
    session.spark.sql("CREATE TABLE health.folders (age int, day int) USING parquet PARTITIONED BY (day)")
    session.spark.sql("INSERT INTO health.folders SELECT id DIV 10, id % 10 FROM range(10000)")
    whole = session._expected("SELECT age FROM health.folders WHERE age >= 0").bytes
    day = session._expected("SELECT age FROM health.folders WHERE day = 3").bytes
    assert 0.05 * whole < day < 0.15 * whole


AHEAD = {
    "a broadcast": "SELECT /*+ BROADCAST(b) */ a.age FROM {day} AS a JOIN {day} AS b ON a.age = b.age",
    "a subquery": "SELECT age FROM {day} WHERE age > (SELECT avg(age) FROM {day})",
    "an order": "SELECT age FROM {day} ORDER BY age LIMIT 7",
}


@pytest.mark.parametrize("step", AHEAD)
def test_all_files_count_where_some_would_be_read_to_select_them(session, visits_by_day, step):
    day = f"(SELECT age FROM parquet.`{visits_by_day}` WHERE day = '2026-11-01')"
    expected = session._expected(AHEAD[step].format(day=day)).bytes
    times = AHEAD[step].count("{day}")
    assert expected == pytest.approx(times * size(visits_by_day), rel=0.01)


def test_no_file_is_read_and_the_session_s_settings_stay(session, write):
    """A file that cannot be read is selected as any other."""
    folder = write("spoiled", {"day": "123"})
    (folder / "day=2" / "part-99999.parquet").write_bytes(b"no Parquet" * 1000)
    before, known = session.spark.conf.getAll, [session.spark.conf.get(name) for name in SELECTING]
    query = f"SELECT age, count(*) AS n FROM parquet.`{folder}` WHERE day = '2' GROUP BY age"
    assert session._expected(query).bytes == size(folder, "day=2/*") > 10_000
    assert before.items() <= session.spark.conf.getAll.items()
    assert [session.spark.conf.get(name) for name in SELECTING] == known
    with pytest.raises(Exception, match="FAILED_READ_FILE"):
        session.spark.sql(query).toArrow()


class TestADayOfAFolder(Failing):
    @pytest.fixture
    def dataset(self, connection, curator, administrator) -> Callable[[str], Dataset]:
        def of(query: str) -> Dataset:
            table = SharedTable.objects.create(connection=connection, title="Folder", query=query)
            dataset = connected(table, curator, declared=False)
            services.declare_all(dataset, [Integer("age", lower=0, upper=99, width=10)])
            return building.granted(dataset, administrator)

        return of

    def test_is_allowed_as_what_it_reads(self, dataset, visits_by_day):
        day = dataset(f"SELECT age FROM parquet.`{visits_by_day}` WHERE day = '2026-11-03'")
        version, bytes_of_day = day.current_domain(), size(visits_by_day, "day=2026-11-03/*")
        self.limited(day, most_bytes=bytes_of_day)
        assert records.count(day, version, version.domain(), b"").tolist() == [20] * 10
        self.limited(day, most_bytes=bytes_of_day - 1)
        with pytest.raises(SourceFault, match="than the connection allows"):
            records.count(day, version, version.domain(), b"")

    def test_all_days_are_refused(self, dataset, visits_by_day):
        all_days = dataset(f"SELECT age FROM parquet.`{visits_by_day}`")
        version = all_days.current_domain()
        self.limited(all_days, most_bytes=size(visits_by_day) // 2)
        with pytest.raises(SourceFault, match="than the connection allows"):
            records.count(all_days, version, version.domain(), b"")
        self.limited(all_days, most_bytes=size(visits_by_day) * 2)
        assert records.count(all_days, version, version.domain(), b"").tolist() == [(DAYS + 1) * 10] * 10
