"""A CSV or TSV file to a stored table."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from dpportal.platform.json_types import Json
from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.session import connect, literal, parquet
from dpportal.tables.facts import (
    Column,
    Oddities,
    TableFacts,
    checked_names,
    is_nameless,
    nameless_values,
)
from dpportal.tables.formats.arrow_table import BATCH_BYTES
from dpportal.tables.formats.dialect import (
    CsvDialect,
    dialect_of,
    first_lines,
    first_records,
    many_blank_lines,
)
from dpportal.tables.formats.empty_columns import without_empty_columns
from dpportal.tables.formats.encoding import PlainText, is_guess, plain_text, settled_encoding
from dpportal.tables.formats.frame import (
    SAMPLE_LINES,
    Line,
    filled,
    is_note,
    proposed_notes,
    usual_width,
    with_top,
)
from dpportal.tables.formats.line_ends import LineEnds, blank_lines
from dpportal.tables.formats.number_texts import text_fields
from dpportal.tables.formats.progress import Report, part
from dpportal.tables.formats.progress_watch import watched
from dpportal.tables.formats.reader import Reading
from dpportal.tables.formats.row_errors import fits, refuse_broken_record, unreadable
from dpportal.tables.formats.table_cut import Cut, cut_table
from dpportal.tables.formats.table_writer import TableWriter
from dpportal.tables.layout import StoredFields, layout, text_name
from dpportal.tables.lost_row import names_look_like_a_row
from dpportal.tables.meaning.number_syntax import SPACES
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES, Limits, ReadOptions
from dpportal.tables.proposals import proposed_columns, proposed_options

# The engine's usual size; of wide tables fewer, since a writer holds all fields of its rows.
ROW_GROUP_ROWS, ROW_GROUP_FIELDS = 122_880, 2**22
# Rows that the engine hands over at a time, of which a batch is put together.
PIECE_ROWS = 512
# What the engine raises for a file that its parallel reader, or any reader, cannot make a table of.
UNREADABLE = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.NotImplementedException)
UNREADABLE_WORDS = ("Invalid Input Error", "Conversion Error", "Not implemented Error")
# Of each piece that the parallel reader takes: said here, so that another version of the engine reads files alike.
BUFFER_BYTES = 32 * 2**20
# The share of the work that is done once the file is known to be plain text.
CHECKED = 0.3
# Of a table, that are looked at for notes.
LAST_ROWS = 20


@dataclass(frozen=True)
class TextTable:
    """A plain text file that is understood: its dialect, its resolved options and its columns.

    width: fields of a row. places: of these the columns' own, the others have no name.
    has_lost_row: whether the names look like a row.
    """

    plain: PlainText
    dialect: CsvDialect
    options: ReadOptions
    columns: tuple[Column, ...]
    width: int
    places: tuple[int, ...]
    has_lost_row: bool = False

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def numbers(self) -> list[bool]:
        """Of each column, whether its first rows looked like numbers."""
        return [column.kind in ("integer", "real") for column in self.columns]

    def named(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of the file's fields without those of columns that have no name.

        Raises UploadFault if one of these says something.
        """
        if len(self.places) == self.width:
            return batch
        for place in sorted({*range(self.width)} - {*self.places}):
            if pc.any(pc.not_equal(pc.utf8_trim(batch.column(place), SPACES), "")).as_py():
                raise nameless_values(place + 1)
        return batch.select(list(self.places))

    def source(self, *, parallel: bool) -> str:
        """SQL: the file's fields, all as text, in file order."""
        columns = ", ".join(f"'{text_name(number)}': 'VARCHAR'" for number in range(self.width))
        quote = literal(self.dialect.quote)
        return (
            f"read_csv({literal(str(self.plain.path))}, auto_detect=false, strict_mode=true, "
            f"columns={{{columns}}}, delim={literal(self.dialect.delimiter)}, quote={quote}, escape={quote}, "
            f"skip={self.dialect.skip}, header={str(self.options.header).lower()}, "
            f"max_line_size={MAX_LINE_BYTES}, buffer_size={BUFFER_BYTES}, compression='none', "
            f"parallel={str(parallel).lower()})"
        )


def convert_csv(reading: Reading, *, from_sheet: bool = False) -> TableFacts:
    """Store a text file, or one written from a sheet, as Parquet.

    Raises UploadFault with the row that cannot be read.
    """
    source, target, limits = reading.source, reading.target, reading.limits
    encoding = settled_encoding(source, reading.options.encoding)
    scratch = target.with_name("plain.csv")
    plain = plain_text(source, scratch, encoding, part(reading.report, 0, CHECKED))
    options = framed(
        plain, reading.file_name, replace(reading.options, encoding=encoding), from_sheet=from_sheet
    )
    cut = _cut(plain, target.with_name("table.csv"), reading.file_name, options)
    table = understand(cut.plain, reading.file_name, options.unframed(), limits, from_sheet=from_sheet)
    # In a table of one column a blank line is a row.
    if table.width > 1 and cut.plain.most_blank >= MAX_LINE_BYTES:
        raise many_blank_lines(cut.plain.blank_from)
    with connect(
        target.parent, cut.plain.path, target, memory_bytes=limits.engine_bytes, threads=limits.threads
    ) as connection:
        writer, oddities = _store(connection, table, target, part(reading.report, CHECKED, 1), reading.key)
        last = {} if reading.is_further else notes_at_end(connection, target, len(table.columns), writer.rows)
    for path in {scratch, cut.plain.path} - {source}:
        path.unlink(missing_ok=True)
    of_rows, blank = writer.fingerprint, max(0, oddities.blank_rows - cut.note_lines)
    is_guessed = not reading.options.encoding and is_guess(source, encoding)
    oddities = replace(
        oddities,
        blank_rows=blank,
        note_lines=cut.notes,
        encoding_guessed=is_guessed,
        names_look_like_row=table.has_lost_row and not reading.is_further,
        **last,
    )
    resolved = table.options.framed_like(options)
    return TableFacts(writer.rows, table.columns, "csv", resolved, of_rows.digest, of_rows.sketch, oddities)


def framed(
    plain: PlainText, file_name: str, options: ReadOptions, *, from_sheet: bool = False
) -> ReadOptions:
    """The options with the delimiter, and with the lines above the table where nobody declared them."""
    lines = first_lines(plain.path)
    dialect = dialect_of(lines, options, file_name, from_sheet=from_sheet)
    first = dialect.numbered(lines[:SAMPLE_LINES])
    records = without_empty_columns([line for line in first if line.first >= dialect.skip])
    resolved = with_top(options, records, usual_width(records))
    return replace(resolved, delimiter=dialect.delimiter)


def _cut(plain: PlainText, target: FilePath, file_name: str, options: ReadOptions) -> Cut:
    """The table alone: the file itself where nothing stands around it. options: from `framed`."""
    if not options.is_framed:
        return Cut(plain)
    return cut_table(plain, target, options, dialect_of(first_lines(plain.path), options, file_name))


def notes_at_end(connection: duckdb.DuckDBPyConnection, stored: FilePath, columns: int, rows: int) -> Json:
    """How many of a table's last rows look like sums or notes, and what would leave them out, as `Oddities` has it.

    Nothing where a row before them would be left out with them; one without any value is none.
    """
    fields = ", ".join(column.text for column in layout(connection, stored).values())
    last = connection.execute(
        f"SELECT {fields} FROM {parquet(stored)} LIMIT {LAST_ROWS} OFFSET {max(0, rows - LAST_ROWS)}"
    ).fetchall()
    lines = [Line(number, number + 1, [text or "" for text in row]) for number, row in enumerate(last)]
    fewest, words = proposed_notes(lines, columns)
    rule = ReadOptions(fewest_filled=fewest, note_words=words)
    left_out = [is_note(line.fields, rule) for line in lines]
    notes = next((number for number, is_left_out in enumerate(reversed(left_out)) if not is_left_out), 0)
    above = zip(lines, left_out[: len(lines) - notes], strict=False)
    if not notes or any(is_left_out and filled(line.fields) for line, is_left_out in above):
        return {}
    return {"notes_at_end": notes, "fewest_filled": fewest, "note_words": words}


def understand(
    plain: PlainText, file_name: str, options: ReadOptions, limits: Limits, *, from_sheet: bool = False
) -> TextTable:
    """Resolve the options and name the columns from the first lines. Raises UploadFault for names that cannot be."""
    lines = first_lines(plain.path)
    dialect = dialect_of(lines, options, file_name, from_sheet=from_sheet)
    records = first_records(lines, dialect)
    if not records:
        refuse_broken_record(plain.path, dialect, 1)
        raise unreadable()
    header = _header(records) if options.header else unnamed(len(records[0]))
    names = checked_names(header, limits.columns, may_lack_some=True)
    places = tuple(place for place, name in enumerate(names) if name)
    rows = [record for record in records[options.header :] if fits(record, len(names))]
    first = [[row[place] for row in rows] for place in places]
    options = proposed_options(first, replace(options, delimiter=dialect.delimiter))
    columns = proposed_columns(list(filter(None, names)), first, options)
    kinds = [column.kind for column in columns]
    lost = options.header and names_look_like_a_row([names[place] for place in places], kinds, first)
    return TextTable(plain, dialect, options, columns, len(names), places, lost)


def _header(records: list[list[str]]) -> list[str]:
    """The names. A last one that is none is left out if rows end before it, or if it follows one name and is empty."""
    names, *rows = records
    if len(names) < 2 or not is_nameless(names[-1]):
        return names
    ends_before = any(len(row) == len(names) - 1 for row in rows)
    is_empty = len(names) == 2 and not any("".join(row[1:]).strip() for row in rows)
    return names[:-1] if ends_before or is_empty else names


def unnamed(columns: int) -> list[str]:
    """What the columns of a table without names are called."""
    return [f"column_{number}" for number in range(1, columns + 1)]


def _store(
    connection: duckdb.DuckDBPyConnection,
    table: TextTable,
    target: FilePath,
    report: Report,
    key: bytes | None,
) -> tuple[TableWriter, Oddities]:
    """Write the Parquet file; returns its closed writer, and the file's oddities.

    The parallel reader gives up where a quoted field spans pieces of the file; one thread reads such a file. It passes
    over a last row whose quotation mark is open, which `accounted` misses. Raises UploadFault of the first broken row.
    """
    for parallel in (True, False):
        with suppress(*UNREADABLE):
            return _read(connection, table, target, report, key, parallel=parallel)
    # The engine's own words quote cells, so none of them is passed on.
    refuse_broken_record(table.plain.path, table.dialect, table.width)
    raise unreadable()


def _read(
    connection: duckdb.DuckDBPyConnection,
    table: TextTable,
    target: FilePath,
    report: Report,
    key: bytes | None,
    *,
    parallel: bool,
) -> tuple[TableWriter, Oddities]:
    together = min(ROW_GROUP_ROWS, ROW_GROUP_FIELDS // table.width)
    ends = LineEnds()
    with watched(connection, report), TableWriter(target, table.names, connection.cursor(), key) as writer:
        rows = connection.sql(f"SELECT * FROM {table.source(parallel=parallel)}")
        for batch in _batches(rows, together):
            for texts in batch.columns if table.plain.quoted else ():
                ends.add(texts)
            writer.write(
                [
                    text_fields(texts) if is_number else StoredFields(texts)
                    for texts, is_number in zip(table.named(batch).columns, table.numbers, strict=True)
                ]
            )
    return writer, accounted(table, writer.rows, ends)


def _batches(rows: duckdb.DuckDBPyRelation, together: int) -> Iterator[pa.RecordBatch]:
    """The rows, so many at a time, or fewer where their texts are long.

    Raises one of UNREADABLE also where Arrow passes the engine's fault on.
    """
    held: list[pa.RecordBatch] = []
    number = size = 0
    try:
        for batch in rows.to_arrow_reader(PIECE_ROWS):
            held.append(batch)
            number, size = number + batch.num_rows, size + batch.nbytes
            if number + PIECE_ROWS > together or size > BATCH_BYTES:
                yield pa.concat_batches(held)
                held, number, size = [], 0, 0
        if held:
            yield pa.concat_batches(held)
    except (OSError, pa.ArrowInvalid) as error:
        if any(kind in str(error) for kind in UNREADABLE_WORDS):
            raise duckdb.InvalidInputException("the engine cannot read this file") from None
        raise


def accounted(table: TextTable, rows: int, ends: LineEnds) -> Oddities:
    """Every line of the file is the line of a row, a line end within a field, or blank.

    Raises duckdb.InvalidInputException if a line is none of these: the engine has lost or invented rows.
    """
    others = table.plain.lines - table.dialect.skip - table.options.header - rows
    if others == 0:
        return Oddities(table.plain.replaced)
    blank = others - ends.all
    # In a table of one column a blank line is a row.
    outside = 0 if table.width == 1 else blank_lines(table.plain.path, table.dialect.skip) - ends.blank
    if blank != outside:
        raise duckdb.InvalidInputException("rows and lines do not agree")
    return Oddities(table.plain.replaced, ends.fields, ends.longest, blank)
