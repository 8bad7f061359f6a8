"""`python -m mechanisms.verify release.zip [--key HEX]`: a line for each check; ends with status 1 where one failed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from mechanisms.verify.bundle import Bundle, BundleError
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.receipt import WHAT as RECEIPT, check as check_receipt
from mechanisms.verify.signature import WHAT

SIGNED = (WHAT, RECEIPT)


def main(arguments: list[str]) -> int:
    """Print what was found; returns the status."""
    parser = argparse.ArgumentParser(prog="python -m mechanisms.verify", description=__doc__)
    parser.add_argument("bundle", type=Path, help="a release (.zip), or a receipt of erasure (.json)")
    parser.add_argument("--key", help="the portal's public key, in hexadecimal digits; its keys page has it")
    given = parser.parse_args(arguments)
    try:
        findings = list(_findings(given.bundle, given.key))
    except BundleError as fault:
        print(f"{given.bundle}: {fault}")
        return 1
    for finding in findings:
        print(finding)
    holding, failed, aside = (sum(each.state is state for each in findings) for state in State)
    print(f"{holding} hold, {failed} failed, {aside} not checked.")
    unsigned = given.key and any(each.what in SIGNED and each.state is not State.HOLDS for each in findings)
    return int(failed > 0 or bool(unsigned))


def _findings(path: Path, key: str | None) -> Iterable[Finding]:
    """Raises BundleError for what is neither a bundle nor a receipt."""
    if path.suffix == ".json":
        try:
            return [check_receipt(path.read_bytes(), key)]
        except OSError as fault:
            raise BundleError(f"it cannot be read: {fault.strerror}") from None
    return verify(Bundle.read(path), key)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
