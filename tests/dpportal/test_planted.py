"""Violations as a hurried developer would write them, each caught: by a contract, a rule about code, or a refusal.

Writes to budgets and the ledger are planted beside them: `budgets/test_only_writer.py` by Django, and
`budgets/test_triggers.py` past it, on both databases.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from dpportal.datasets import records
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.platform.records_guard import RecordsRefusedError
from mechanisms.noise import Noise, guard, repeatable
from mechanisms.noise.guard import NoiseRefusedError
from mechanisms.noise.secret import secret_noise
from tests.dpportal import code_rules
from tests.dpportal.code_rules import Rule
from tests.dpportal.code_source import ROOT, Source
from tests.dpportal.planted_names import HIDDEN_CODE

# (contract, module, what is added to it, what of it the contract names). A module that is not there is new.
IMPORTS = [
    (
        "rooms",
        "dpportal.accounts.permissions",
        "from dpportal.datasets.models import Dataset",
        "datasets.models",
    ),
    (
        "rooms",
        "dpportal.datasets.views",
        "def f():\n    from dpportal.budgets import ledger",
        "budgets.ledger",
    ),
    ("rooms", "dpportal.budgets.views", "import dpportal.releases.models", "releases.models"),
    ("rooms", "dpportal.streams.views", "from dpportal.releases.models import Release", "releases.models"),
    ("rooms", "dpportal.jobs.claims", "from dpportal.accounts.models import User", "accounts.models"),
    ("rooms", "dpportal.helpers", "import dpportal.platform.storage", "helpers"),
    (
        "within-rooms",
        "dpportal.releases.models",
        "from dpportal.releases.services import publish",
        "services",
    ),
    ("within-rooms", "dpportal.releases.execution", "from dpportal.releases import tasks", "releases.tasks"),
    (
        "within-rooms",
        "dpportal.budgets.forms",
        "from dpportal.budgets.views import ledger_page",
        "budgets.views",
    ),
    (
        "within-rooms",
        "dpportal.tables.preview",
        "from dpportal.datasets import services",
        "datasets.services",
    ),
    (
        "products",
        "dpportal.releases.products.selection",
        "from dpportal.releases.products.queries import form",
        "queries.form",
    ),
    (
        "products",
        "dpportal.releases.products.summary",
        "from dpportal.releases.products.queries import form",
        "queries.form",
    ),
    (
        "products",
        "dpportal.releases.products.shared.explorer",
        "from dpportal.releases.products.queries import form",
        "queries.form",
    ),
    ("people", "dpportal.accounts.forms", "import dpportal.publications.licences", "publications.licences"),
    ("library", "mechanisms.histogram.noisy", "def f():\n    from django.conf import settings", "django"),
    ("library", "mechanisms.registry", "import dpportal.charts", "dpportal.charts"),
    ("library", "mechanisms.error", "import http.client", "http"),
    ("library", "mechanisms.error", "import sqlite3", "sqlite3"),
    ("library", "mechanisms.registry", "import subprocess", "subprocess"),
    ("library", "mechanisms.registry", "import smtplib", "smtplib"),
    ("client", "dpportal.api.dpclient.portal", "import mechanisms.accounting", "mechanisms"),
    (
        "charts",
        "dpportal.charts.counts",
        "from dpportal.platform.storage import local_path",
        "dpportal.platform.storage",
    ),
    ("charts", "dpportal.charts.counts", "import os", "os"),
    ("charts", "dpportal.charts.cells", "import shutil", "shutil"),
    (
        "readers",
        "dpportal.releases.views",
        "def f(path):\n    import duckdb\n    duckdb.read_parquet(path)",
        "duckdb",
    ),
    ("drivers", "dpportal.streams.job_execution", "import psycopg", "psycopg"),
    (
        "sessions",
        "dpportal.datasets.services",
        "from dpportal.tables.engines import protocol",
        "engines.protocol",
    ),
    ("tables", "dpportal.tables.engines.registry", "import dpportal.tables.connections.admin", "admin"),
    ("tables", "dpportal.tables.meaning.dates", "from dpportal.tables import facts", "tables.facts"),
    ("ledger", "dpportal.budgets.admin", "from dpportal.budgets.writing import writing", "budgets.writing"),
    (
        "records",
        "dpportal.releases.views",
        "from dpportal.platform.records_guard import reading",
        "records_guard",
    ),
    (
        "record-files",
        "dpportal.releases.views",
        "from dpportal.datasets.record_files import opened",
        "record_files",
    ),
    ("noise", "dpportal.releases.views", "from mechanisms.noise.secret import secret_noise", "noise.secret"),
    ("randomness", "dpportal.releases.results", "from random import SystemRandom", "random"),
    ("randomness", "mechanisms.error", "def f():\n    import secrets as s\n    s.randbelow(9)", "secrets"),
]
# (rule, module, code).
CODE: list[tuple[Rule, str, str]] = [
    (code_rules.importers_of_parts, "dpportal.releases.views", "from numpy import random as r\nr.normal()"),
    (code_rules.importers_of_parts, "mechanisms.synthesis.table", "import numpy.random as r"),
    (
        code_rules.importers_of_parts,
        "dpportal.releases.views",
        "import pyarrow.dataset as ds\nds.dataset(path)",
    ),
    (code_rules.importers_of_parts, "dpportal.charts.counts", "from django.db import models"),
    (
        code_rules.hidden_importers,
        "dpportal.streams.series",
        "import importlib\nimportlib.import_module('dpportal.releases.models')",
    ),
    (
        code_rules.hidden_importers,
        "mechanisms.registry",
        "from importlib import import_module as get\nget('django')",
    ),
    (code_rules.hidden_importers, "mechanisms.registry", "__import__('django.conf')"),
    (
        code_rules.hidden_importers,
        "dpportal.accounts.forms",
        "apps.get_model('releases', 'Release').objects.all()",
    ),
    (
        code_rules.hidden_importers,
        "dpportal.datasets.views",
        "import_string('dpportal.releases.models.Release')",
    ),
    (
        code_rules.hidden_importers,
        "dpportal.datasets.views",
        "sys.modules['dpportal.releases.models'].Release",
    ),
    (code_rules.hidden_importers, "dpportal.datasets.views", "apps.all_models['releases']['release']"),
    (code_rules.readers_of_records, "dpportal.releases.views", "import pandas as pd\npd.read_parquet(path)"),
    (
        code_rules.readers_of_records,
        "dpportal.streams.views",
        "import pyarrow.parquet as pq\nread = pq.read_table",
    ),
    (
        code_rules.readers_of_records,
        "dpportal.operations.home",
        "open(settings.DATA_DIR / 'files' / dataset.table)",
    ),
    (
        code_rules.readers_of_records,
        "dpportal.datasets.admin",
        "Path(default_storage.path(name)).read_bytes()",
    ),
    (code_rules.readers_of_records, "dpportal.operations.home", "np.load(folder / release.true_counts)"),
    (code_rules.readers_of_records, "dpportal.releases.views", "(folder / dataset.table).read_bytes()"),
    (
        code_rules.readers_of_records,
        "dpportal.operations.home",
        "shutil.copy(folder / dataset.table, target)",
    ),
    (code_rules.readers_of_records, "dpportal.streams.views", "pa.memory_map(path)"),
    (
        code_rules.counters_of_people,
        "dpportal.releases.views",
        "records.count(dataset, version, domain, b'')",
    ),
    (
        code_rules.counters_of_people,
        "dpportal.streams.views",
        "from dpportal.datasets.records import stored_counts as k\nk(name)",
    ),
    (
        code_rules.speakers_of_sql,
        "dpportal.budgets.views",
        "with connection.cursor() as c:\n    c.execute('UPDATE budgets_budget SET total = 9000000')",
    ),
    (code_rules.speakers_of_sql, "dpportal.budgets.admin", "LedgerEntry.objects.raw('DELETE FROM x')"),
    (
        code_rules.speakers_of_sql,
        "dpportal.budgets.views",
        "with connection.schema_editor() as e:\n    e.execute('UPDATE x')",
    ),
    (
        code_rules.speakers_of_sql,
        "dpportal.operations.home",
        "import sqlite3\nsqlite3.connect(path).execute('UPDATE x')",
    ),
    (
        code_rules.speakers_of_sql,
        "dpportal.budgets.views",
        "from django.db.models.expressions import RawSQL as R\nR('1', [])",
    ),
    (
        code_rules.writers_past_guards,
        "dpportal.releases.views",
        "models.QuerySet(Budget).update(total=9)",
    ),
    (
        code_rules.writers_past_guards,
        "dpportal.releases.views",
        "QuerySet.update(dataset.budgets.all(), total=9)",
    ),
    (
        code_rules.writers_past_guards,
        "dpportal.streams.models",
        "class Mine(Budget):\n    objects = models.Manager()\n    class Meta:\n        proxy = True",
    ),
    (
        code_rules.writers_past_guards,
        "dpportal.operations.home",
        "from django.db.models.sql import UpdateQuery as U\nU(Budget).add_update_values({'total': 9})",
    ),
    (
        code_rules.writers_past_guards,
        "dpportal.datasets.services",
        "from django.db.models.deletion import Collector as C\nC('default').collect(dataset.ledger.all())",
    ),
    (code_rules.writers_past_guards, "dpportal.datasets.services", "budget.save_base(raw=True)"),
    (
        code_rules.borrowers_of_doors,
        "dpportal.releases.views",
        "with ledger.writing():\n    budget.save()",
    ),
    (
        code_rules.borrowers_of_doors,
        "dpportal.streams.views",
        "from dpportal.releases.execution import secret_noise as noise",
    ),
    (
        code_rules.borrowers_of_doors,
        "dpportal.releases.views",
        "with records.reading():\n    default_storage.open(name)",
    ),
    (code_rules.drawers_of_randomness, "mechanisms.error", "import numpy as n\nn.random.default_rng(1)"),
    (code_rules.drawers_of_randomness, "dpportal.releases.execution", "import os\nos.urandom(8)"),
    (code_rules.drawers_of_randomness, "dpportal.releases.execution", "from os import urandom as u\nu(8)"),
    (code_rules.drawers_of_randomness, "dpportal.streams.execution", "noise = uuid.uuid4().int % 100 - 50"),
    (
        code_rules.drawers_of_randomness,
        "mechanisms.error",
        "from scipy import stats\nstats.norm.rvs(size=3)",
    ),
    (code_rules.drawers_of_randomness, "dpportal.releases.results", "frame.sample(frac=1)"),
    (code_rules.drawers_of_randomness, "dpportal.streams.execution", "int(uuid4().hex, 16) % 100"),
    (code_rules.makers_of_noise, "dpportal.datasets.views", "noise.Noise().draw(law, 1)"),
    (
        code_rules.loggers_of_data,
        "dpportal.releases.views",
        "log.info('counts %s', records.stored_counts(name))",
    ),
    (code_rules.loggers_of_data, "dpportal.streams.api", "log.debug(f'{increments}')"),
    (code_rules.loggers_of_data, "dpportal.releases.views", "print(counts)"),
    (
        code_rules.loggers_of_data,
        "dpportal.releases.views",
        "logging.getLogger(__name__).info('%s', counts)",
    ),
    (
        code_rules.loggers_of_data,
        "dpportal.releases.views",
        "log.info('measured', extra={'counts': counts})",
    ),
    (code_rules.loggers_of_data, "dpportal.releases.views", "LOGGER.warning(counts)"),
    (code_rules.loggers_of_data, "dpportal.streams.api", "sys.stderr.write(f'{counts}')"),
]


def file_of(root: Path, module: str) -> Path:
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each contract says, by its id, of a copy of the project with all that is planted: one look at one graph."""
    root = tmp_path_factory.mktemp("planted")
    for package in ("dpportal", "mechanisms"):
        shutil.copytree(
            ROOT / package, root / package, ignore=lambda folder, names: skipped(Path(folder), names)
        )
    config = (ROOT / "pyproject.toml").read_text()
    # An id for a name: the report has headings of one word.
    config = re.sub(r'^id = "(.+)"\nname = ".+"$', r'id = "\1"\nname = "contract \1"', config, flags=re.M)
    (root / "pyproject.toml").write_text(config)
    for _contract, module, code, _named in IMPORTS:
        with file_of(root, module).open("a") as file:
            file.write(f"\n{code}\n")
    lint = [
        sys.executable,
        "-P",
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
    ]
    done = subprocess.run(
        [*lint, "--no-cache"], cwd=root, env={"COLUMNS": "400"}, capture_output=True, text=True
    )
    _summary, _, broken = done.stdout.partition("Broken contracts")
    parts = re.split(r"^contract (\S+)\n-+$", broken, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def skipped(folder: Path, names: list[str]) -> list[str]:
    """Whatever is no Python."""
    return [name for name in names if not (folder / name).is_dir() and not name.endswith(".py")]


@pytest.mark.parametrize("contract, module, code, named", IMPORTS)
def test_a_contract_catches_it(
    verdicts: dict[str, str], contract: str, module: str, code: str, named: str
) -> None:
    lines = [line for line in verdicts[contract].splitlines() if module in line and named in line]
    assert lines, verdicts[contract]


@pytest.mark.parametrize("rule, module, code", CODE + HIDDEN_CODE)
def test_a_rule_about_code_catches_it(rule: Rule, module: str, code: str) -> None:
    assert list(rule(Source.of(module, code)))


def test_every_rule_has_something_planted() -> None:
    assert {rule for rule, _module, _code in CODE + HIDDEN_CODE} == set(code_rules.RULES)


def test_every_contract_has_something_planted() -> None:
    contracts = set(re.findall(r'^id = "(.+)"$', (ROOT / "pyproject.toml").read_text(), flags=re.M))
    assert {contract for contract, _module, _code, _named in IMPORTS} == contracts


def test_noise_is_refused_where_no_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under whatever name a page imports it; what executes releases and streams has another door."""
    monkeypatch.setattr(guard, "_is_closed", True)
    with pytest.raises(NoiseRefusedError, match="only where it spends budget"):
        Noise()
    assert len(secret_noise().key()) == 32
    assert Noise(repeatable(bytes(32)).bytes).key() == Noise(repeatable(bytes(32)).bytes).key()


def test_the_portal_closes_itself_to_other_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_is_closed", False)
    apps.get_app_config("dpportal").ready()
    with pytest.raises(NoiseRefusedError):
        Noise()


@pytest.mark.parametrize("place", ["{}", "./{}", "records/../{}", "{folder}/{}"])
def test_records_are_opened_by_their_room_alone(dataset: Dataset, place: str) -> None:
    name = place.format(dataset.table, folder=default_storage.base_location)
    with pytest.raises(RecordsRefusedError, match=r"read by dpportal\.datasets\.records only; call it"):
        default_storage.open(name)
    with pytest.raises(RecordsRefusedError), storage.local_path(name):
        pass
    assert len(records.first_rows(dataset, 2)) == 2


def test_what_is_published_is_opened_by_anybody(dataset: Dataset) -> None:
    name = default_storage.save("releases/recordslike.txt", ContentFile(b"1"))
    with default_storage.open(name) as file, storage.local_path(name) as path:
        assert file.read() == path.read_bytes()


def test_records_are_closed_again_once_their_room_has_read(dataset: Dataset) -> None:
    records.first_rows(dataset, 1)
    with pytest.raises(RecordsRefusedError):
        default_storage.open(dataset.table)
