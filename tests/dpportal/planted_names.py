"""Violations that hide behind another name, and sources that a list could forget, as `test_planted.py` plants them."""

from __future__ import annotations

from tests.dpportal import code_rules
from tests.dpportal.code_rules import Rule

# A rule's pieces of code, each with the module that it is planted in.
HIDDEN: dict[Rule, dict[str, str]] = {
    code_rules.importers_of_parts: {
        "import polars as pl\npl.read_ipc(path)": "dpportal.catalogue.views",
        "import pyarrow.csv as c\nc.open_csv(path)": "dpportal.catalogue.views",
        "import pyarrow as pa\npa.ipc.open_file(path)": "dpportal.catalogue.views",
        "import pyarrow as pa\npa.ipc.open_stream(path)": "dpportal.publications.workbook",
        "import pyreadstat as r\nr.read_sav(path)": "dpportal.catalogue.views",
        "from scipy.stats import qmc as q\nq.Sobol(1).random(8)": "mechanisms.error",
    },
    code_rules.readers_of_records: {
        "from polars import read_ipc as r\nr(path)": "dpportal.catalogue.views",
        "import pandas as pd\npd.read_pickle(path)": "dpportal.catalogue.views",
    },
    code_rules.counters_of_people: {
        "from dpportal.datasets import records as r\nr.count(dataset, v, d, b'')": "dpportal.catalogue.views",
        "from dpportal.datasets import records\ngetattr(records, 'count')(dataset)": "dpportal.catalogue.views",
        "import dpportal.datasets.records\nf = dpportal.datasets.records\nf.stored_counts(n)": "dpportal.api.views",
        "import dpportal.datasets.records as r\ng = r\ng.power_sums(dataset)": "dpportal.api.views",
        "from dpportal.datasets import records\nrecords.first_rows(table, 100)": "dpportal.catalogue.views",
        "from dpportal.datasets.records import comparison as c\nc(dataset, release)": "dpportal.catalogue.views",
        "from dpportal.datasets import records\nrecords.some_rows(dataset, d, 9)": "dpportal.datasets.views",
        "from dpportal.datasets import records\nrecords.suggested_attribute(d, 'a')": "dpportal.datasets.views",
        "from dpportal import tables as t\nt.count_cells(path, domain)": "dpportal.operations.home",
        "from dpportal.streams import vault as v\nv.true_counts(periods)": "dpportal.streams.views",
    },
    code_rules.borrowers_of_doors: {
        "from dpportal.budgets import ledger as l\nwith l.writing():\n    b.save()": "dpportal.releases.views",
        "from dpportal.budgets import ledger\nwith getattr(ledger, 'writing')():\n    pass": "dpportal.api.views",
        "import dpportal.budgets.ledger as l\nm = l\nwith m.writing():\n    b.save()": "dpportal.streams.views",
        "from mechanisms.noise import secret as s\ns.secret_noise()": "dpportal.releases.views",
    },
    code_rules.drawers_of_randomness: {
        "open('/dev/urandom', 'rb').read(8)": "dpportal.releases.execution",
        "noise = time.time_ns() % 7 - 3": "dpportal.releases.execution",
        "noise = hash('a') % 7": "mechanisms.error",
        "from django.utils.crypto import get_random_string as g\nint(g(3, '01'))": "dpportal.releases.execution",
        "from scipy.stats import norm\ndraw = norm(0, 1).rvs": "mechanisms.error",
        "import numpy as np\ngetattr(np, 'random').normal()": "mechanisms.error",
        "import numpy as n\nn.random.Generator(bits)": "mechanisms.error",
        "import torch\ntorch.randn(3)": "mechanisms.error",
        "u = uuid4()\nn = u.int % 7": "dpportal.streams.execution",
        "session.rows('SELECT random() FROM t')": "dpportal.tables.count",
        "int.from_bytes(AESGCM.generate_key(256))": "dpportal.releases.execution",
    },
    code_rules.makers_of_noise: {
        "from mechanisms.noise import Noise as N\nN(source).draw(law, 1)": "dpportal.releases.views",
    },
    code_rules.loggers_of_data: {
        "journal = getLogger(__name__)\njournal.info('%s', counts)": "dpportal.releases.views",
        "from logging import getLogger as g\nlog2 = g('x')\nlog2.info('%s', counts)": "dpportal.releases.views",
        "from warnings import warn\nwarn(str(counts))": "dpportal.releases.views",
        "from pprint import pprint\npprint(counts)": "dpportal.releases.views",
        "import sys as s\ns.stderr.write(str(counts))": "dpportal.releases.views",
    },
    code_rules.tellers_of_counts: {
        "from django.contrib import messages\nmessages.info(request, f'{x}')": "dpportal.releases.views",
        "from django.contrib import messages as m\nm.warning(request, f'{x}')": "dpportal.releases.views",
        "from django.contrib import messages\nmessages.info(request, text % counts)": "dpportal.releases.views",
        "raise ValueError(f'{counts.sum()}')": "mechanisms.histogram.noisy",
        "raise RefusedError(_('too many: %s') % max(true_counts))": "dpportal.releases.execution",
    },
    code_rules.openers_in_pure_rooms: {
        "open('figure.svg', 'w').write(svg)": "dpportal.charts.counts",
        "import builtins\nbuiltins.open(name)": "dpportal.charts.counts",
    },
}
HIDDEN_CODE: list[tuple[Rule, str, str]] = [
    (rule, module, code) for rule, planted in HIDDEN.items() for code, module in planted.items()
]
