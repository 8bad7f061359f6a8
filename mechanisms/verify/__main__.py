"""`python -m mechanisms.verify release.zip [--key HEX]`: a line for each check; ends with status 1 where one failed."""

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
        return 1
    if given.json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings]}))
    else:
        _report(findings)
    failed = any(each.state is State.FAILED for each in findings)
    unsigned = given.key and any(each.what in SIGNED and each.state is not State.HOLDS for each in findings)
    return int(failed or bool(unsigned))


def _report(findings: list[Finding]) -> None:
    for finding in findings:
        print(finding)
    holding, failed, aside, told = (sum(each.state is state for each in findings) for state in State)
    print(f"{holding} hold, {failed} failed, {aside} not checked, {told} stated by the portal.")


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
