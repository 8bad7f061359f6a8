"""Lists for the rules of `code_rules.py`: names that read tables, draw or count, and who may use them."""

from __future__ import annotations

import re


def _words(names: str) -> set[str]:
    """Names as words of a text, so that another one makes no line."""
    return set(names.split())


TABLES, RECORDS, NOISE = "dpportal.tables", "dpportal.datasets.records", "mechanisms.noise"
# Parts of packages, which import-linter sees whole, with who may import them; the third names whom it is about.
PARTS: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("numpy.random", (NOISE,), ("dpportal", "mechanisms")),
    ("scipy.stats.qmc", (NOISE,), ("dpportal", "mechanisms")),
    ("torch.distributions", (NOISE,), ("dpportal", "mechanisms")),
    ("pyarrow.dataset", (TABLES,), ("dpportal", "mechanisms")),
    ("pyarrow.ipc", (TABLES,), ("dpportal", "mechanisms")),
    ("pyarrow.json", (TABLES,), ("dpportal", "mechanisms")),
    # What is published is read once more, to be written as another file.
    ("pyarrow.csv", (TABLES, "dpportal.publications"), ("dpportal", "mechanisms")),
    ("polars", (TABLES,), ("dpportal", "mechanisms")),
    ("pyreadstat", (TABLES, "dpportal.datasets.codebooks"), ("dpportal", "mechanisms")),
    ("django.db", (), ("dpportal.charts",)),
    ("django.core.files", (), ("dpportal.charts",)),
]
# Types of what is handed in.
TYPES_OF_PARTS = {"numpy.random.Generator"}
# Imports that no list of imports shows, with who may use them.
HIDDEN_IMPORTS = {
    "import_module",
    "__import__",
    "exec",
    "eval",
    "exec_module",
    "run_module",
    "import_string",
    "resolve_name",
    "get_model",
    "get_app_config",
    "all_models",
    "sys.modules",
}
IMPORTING_LATE = (TABLES, "dpportal.apps")
READERS_OF_TABLES = _words(
    """
    from_parquet IpcFileFormat iter_batches load_workbook memory_map ORCFile OSFile ParquetDataset ParquetFile
    read_csv read_dta read_excel read_feather read_fwf read_hdf read_ipc read_json read_metadata read_ndjson read_orc
    read_pandas read_parquet read_pickle read_por read_sas read_sas7bdat read_sav read_spss read_stata read_table
    read_xport RecordBatchFileReader RecordBatchStreamReader scan_csv scan_ipc scan_parquet
    """
)
# Attributes that name files of records, and what opens a file or tells where it lies.
FILES_OF_RECORDS = {"table", "upload", "true_counts"}
OPENERS = _words(
    """
    copy copy2 copyfile copyfileobj fdopen FileIO FileResponse fromfile genfromtxt hardlink_to input_stream joinpath
    link load loadtxt local_path memmap move open open_input_file open_input_stream Path read_bytes read_text rename
    symlink symlink_to TarFile ZipFile
    """
)
# A program of its own for whoever has a published bundle, and nothing else.
VERIFIER = "mechanisms.verify"
# A program of its own for whoever asks a portal by HTTP; what it reads as tables is published.
CLIENT = "dpportal.api.dpclient"
# Functions of the room of records that return no number and no text of a record. Every other is for `COUNTING`, or
# for those that `FOR_CURATORS` names.
WITHOUT_RECORDS = _words(
    """
    cannot_count comparison_name described_files erase folder is_intact keep_comparison keep_counts options_of
    persons_of piece remote_schema seal take_in waiting_lines
    """
)
# What the curator alone is shown, or what an upload is read into, with the modules that ask for it.
FOR_CURATORS = {
    f"{RECORDS}.comparison": {"dpportal.releases.comparing"},
    f"{RECORDS}.content_digest": {"dpportal.datasets.import_job"},
    f"{RECORDS}.convert": {"dpportal.datasets.import_job"},
    f"{RECORDS}.first_rows": {"dpportal.datasets.first_rows"},
    f"{RECORDS}.fit": {"dpportal.datasets.domain_fit_job"},
    f"{RECORDS}.look": {"dpportal.datasets.file_lines", "dpportal.datasets.title_lines"},
    f"{RECORDS}.persons_in_first_rows": {"dpportal.datasets.domain_views"},
    f"{RECORDS}.proposed_columns": {"dpportal.datasets.other_options"},
    f"{RECORDS}.suggested_attribute": {"dpportal.datasets.fill_column"},
    "dpportal.streams.vault.true_counts": {"dpportal.streams.comparison"},
}
# What counts and reads in the room of tables, which `RECORDS` calls.
COUNTS_OF_TABLES = _words(
    """
    cell_sums count_cells count_tables first_rows fit_table packed_rows people_by_value power_sums sample_cells suggest
    """
)
# Who may have true counts: the jobs that budget is spent for.
COUNTING = (
    TABLES,
    RECORDS,
    "dpportal.releases.execution",
    "dpportal.releases.products",
    "dpportal.streams.execution",
    "dpportal.streams.job_execution",
    "dpportal.value_choices.execution",
)
# Who talks to the portal's database in SQL.
SPEAKING_SQL = (
    "dpportal.accounts.permissions",
    "dpportal.datasets.dead_rows",
    "dpportal.datasets.key_traces",
    "dpportal.operations.database_integrity",
    "dpportal.operations.written_values",
    "dpportal.operations.portal_tables",
    "dpportal.operations.strange_objects",
    "dpportal.platform.triggers",
    "dpportal.jobs.clock",
    "dpportal.jobs.lock_timeouts",
    TABLES,
)
SQL = {"cursor", "chunked_cursor", "schema_editor", "extra", "raw", "RawSQL", "executescript", "_raw_delete"}
# What writes rows past the managers and `save` of their model, that is past what refuses.
WRITERS_PAST_GUARDS = {"save_base", "UpdateQuery", "InsertQuery", "DeleteQuery", "Collector"}
GUARDED = {"Budget", "LedgerEntry"}
# What opens a guard, and whose it is: others could take it from there, and its origin's contract would not see that.
DOORS = {
    "writing": ("dpportal.budgets.ledger", "dpportal.budgets.writing"),
    "reading": (RECORDS, "dpportal.datasets.record_files", "dpportal.platform"),
    "secret_noise": (
        "mechanisms.noise",
        "dpportal.releases.execution",
        "dpportal.streams.execution",
        "dpportal.value_choices.execution",
    ),
}
RANDOM_NAMES = _words(
    """
    _get_candidate_names bernoulli_ default_rng exponential_ generate_key Generator get_random_string getrandbits
    getrandom normal_ NormalDist PCG64 RAND_bytes RAND_priv_bytes RAND_pseudo_bytes rand_like randbelow randbits randint
    randint_like randn randn_like Random random_ RandomState randperm rvs SystemRandom token_bytes token_hex uniform_
    urandom uuid1
    """
)
# Those whose last part alone says too little.
RANDOM_FUNCTIONS = _words(
    """
    scipy.sparse.rand scipy.sparse.random scipy.sparse.random_array
    torch.bernoulli torch.multinomial torch.normal torch.poisson torch.rand
    """
)
# Keys, passwords and codes of people.
MAKERS_OF_KEYS = (
    "dpportal.accounts.factors.recovery",
    "dpportal.accounts.known_browsers",
    "dpportal.accounts.people",
    "dpportal.operations.demonstration",
    "dpportal.platform.keys",
    "dpportal.platform.sealed_files",
)
# What of a random name would be a number.
NUMBERS_OF_A_UUID = {"int", "bytes", "bytes_le", "fields", "time", "node", "clock_seq"}
# Those of a random name in a variable; the others are also attributes of other things.
NUMBERS_OF_UUIDS_ALONE = {"int", "bytes_le", "clock_seq", "time_low"}
# Files of the system, and functions of SQL, that are sources of randomness.
RANDOM_TEXTS = (
    "/dev/random",
    "/dev/urandom",
    "random()",
    "rand()",
    "randomblob(",
    "gen_random_uuid()",
    "setseed(",
)
# What looks like noise once a remainder is taken of it.
CLOCKS = {"hash", "time", "time_ns", "monotonic_ns", "perf_counter", "perf_counter_ns", "getpid", "id"}
PRINTERS = _words(
    """
    os.write pprint.pp pprint.pprint sys.__stderr__.write sys.__stdout__.write sys.stderr.write sys.stderr.writelines
    sys.stdout.write sys.stdout.writelines traceback.print_exc traceback.print_exception warnings.warn
    """
)
# What makes a log, whatever the variable is called.
LOG_MAKERS = {"getLogger", "get_logger", "get_task_logger"}
# Variables that hold true counts wherever they have this name, and what of them is no count.
NAMES_OF_COUNTS = {"counts", "true_counts", "increments"}
# What else people read: what is called with it, faults by their names, and attributes of what pages show.
TELLERS = {"add_error", "add_note", "exit", "mail_admins", "mail_managers", "send_mail", "EmailMessage"}
NAMES_OF_FAULTS = re.compile(r"(Error|Fault|Exception|Warning)$|^Http(Response|404)")
SHOWN_ATTRIBUTES = {"failure", "refusal", "error", "fault", "message"}
SHAPES = {"dtype", "shape", "size", "ndim", "nbytes"}
# What a pure module does not do: it opens nothing. Modules that it must not import are in pyproject.toml.
PURE = "dpportal.charts"
LOG_LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
# What a line of the log may hold besides constants: ids, names of things, faults in words, times.
LOGGED_ATTRIBUTES = {
    "__name__",
    "attempt",
    "attempts",
    "code",
    "kind",
    "key",
    "name",
    "name_of_seal",
    "operation_name",
    "origin",
    "path",
    "pk",
    "strerror",
}
LOGGED_NAMES = {
    "address",
    "code",
    "fault",
    "name",
    "outcome",
    "pause",
    "pk",
    "reason",
    "refusal",
    "release_id",
    "requests",
    "seconds",
    "stream_id",
}
LOGGED_CALLS = {"client_address", "fault_of", "get_username", "refusal_of"}
