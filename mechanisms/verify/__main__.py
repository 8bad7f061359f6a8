"""`python -m mechanisms.verify release.zip [--key HEX]`: a line for each check, and a status.

0 where all holds, 1 where something failed, 3 where nothing failed and something could not be checked.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from mechanisms.verify.bundle import Bundle, BundleError
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.receipt import WHAT as RECEIPT, check as check_receipt
from mechanisms.verify.signature import WHAT

SIGNED = (WHAT, RECEIPT)
# 2 is that of an argument that nobody can read.
FAILED, NOT_ALL_CHECKED = 1, 3
KEY = (
    "a public key of the portal, in hexadecimal digits, as its keys page has them; may be given several times"
)


def main(arguments: list[str]) -> int:
    """Print what was found; returns the status."""
    parser = argparse.ArgumentParser(prog="python -m mechanisms.verify", description=__doc__)
    parser.add_argument("bundle", type=Path, help="a release (.zip), or a receipt of erasure (.json)")
    parser.add_argument("--key", action="append", default=[], help=KEY)
    parser.add_argument("--json", action="store_true", help="print the checks as one line of JSON")
    given = parser.parse_args(arguments)
    try:
        findings = _findings(given.bundle, *given.key)
    except BundleError as fault:
        print(json.dumps({"fault": str(fault)}) if given.json else f"{given.bundle}: {fault}")
        return FAILED
    if given.json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings]}))
    else:
        _report(findings, bool(given.key))
    return _status(findings, bool(given.key))


def _status(findings: list[Finding], has_key: bool) -> int:
    states = {each.state for each in findings}
    if State.FAILED in states or (has_key and not _is_signed(findings)):
        return FAILED
    return NOT_ALL_CHECKED if State.NOT_CHECKED in states else 0


def _is_signed(findings: list[Finding]) -> bool:
    return all(each.state is State.HOLDS for each in findings if each.what in SIGNED)


def _report(findings: list[Finding], has_key: bool) -> None:
    for finding in findings:
        print(finding)
    holding, failed, aside, notes = (sum(each.state is state for each in findings) for state in State)
    print(f"{holding} hold, {failed} failed, {aside} not checked, {notes} stated by the portal.")
    print(_conclusion(findings, has_key))


def _conclusion(findings: list[Finding], has_key: bool) -> str:
    """What that says of changes: the signature covers a digest of each file."""
    if any(each.state is State.FAILED for each in findings):
        return "It is not as a portal wrote it, or not by the portal whose key was given."
    if not (has_key and _is_signed(findings)):
        return "Give the portal's key by --key: without it, whoever changed a file may have signed it anew."
    sentence = "Nothing in it was changed since the holder of that key signed it."
    if all(each.state is not State.NOT_CHECKED for each in findings):
        return sentence
    return f"{sentence} Nobody but the holder can say whether that is right which was not checked."


def _findings(path: Path, *keys: str) -> list[Finding]:
    """Raises BundleError for what is neither a bundle nor a receipt.

    Anybody may have made the file, or a disk have damaged it, so that it can be wrong wherever it is read.
    """
    try:
        return list(_checked(path, *keys))
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise BundleError("it is damaged: download it again.") from None
    except BundleError:
        raise
    except Exception as fault:
        raise BundleError("no portal writes it so ({fault}).", fault=type(fault).__name__) from None


def _checked(path: Path, *keys: str) -> Iterable[Finding]:
    if path.suffix == ".json":
        try:
            return [check_receipt(path.read_bytes(), *keys)]
        except OSError as fault:
            raise BundleError("it cannot be read: {fault}", fault=fault.strerror) from None
    return verify(Bundle.read(path), *keys)


def run() -> int:
    """The command that `pip install .` gives; returns the status."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
