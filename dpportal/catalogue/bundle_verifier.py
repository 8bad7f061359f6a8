"""Runs the verifier on a file that anybody may have made, in a process that is ended where it takes too much."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.platform.keyed import signing_keys
from dpportal.tables.formats.confinement import Confinement, child_of
from dpportal.tables.meaning.parse_options import Limits

LIMITS = Limits(memory_bytes=1000 * 2**20, seconds=180.0)
# More is no report of an honest bundle.
MOST_FINDINGS, MOST_CHARACTERS, MOST_OUTPUT = 1000, 500, 4 * 2**20


class CheckRefusedError(Exception):
    """The file is no bundle, or too much for the portal to check; the message is for whoever asked."""


def findings(path: Path) -> list[Json]:
    """What the verifier found, each with `what`, `state` and `details`. Raises CheckRefusedError."""
    keys = [part for key in signing_keys().public for part in ("--key", key)]
    command = [sys.executable, "-m", "mechanisms.verify", str(path), "--json", *keys]
    with (
        child_of(command, stdin=subprocess.DEVNULL) as child,
        Confinement(child, path.parent, LIMITS).held() as confinement,
    ):
        assert child.stdout is not None
        output = child.stdout.read(MOST_OUTPUT + 1)
    if confinement.exhausted or not output or len(output) > MOST_OUTPUT:
        raise CheckRefusedError(_too_much())
    return _answer(json.loads(output))


def _answer(report: Json) -> list[Json]:
    if "fault" in report:
        raise CheckRefusedError(_("This is no download of a portal: %(fault)s") % {"fault": report["fault"]})
    findings: list[Json] = report["findings"][:MOST_FINDINGS]
    return [{name: text[:MOST_CHARACTERS] for name, text in each.items()} for each in findings]


def _too_much() -> str:
    return _(
        "The check took more than three minutes or a gigabyte of memory, or came to no end. Check the download on your "
        "own machine."
    )
