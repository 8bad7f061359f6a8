"""`python -m mechanisms.verify release.zip [--key HEX]`: a line for each check; ends with status 1 where one failed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mechanisms.verify.bundle import Bundle, BundleError
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from mechanisms.verify.signature import WHAT


def main(arguments: list[str]) -> int:
    """Print what was found; returns the status."""
    parser = argparse.ArgumentParser(prog="python -m mechanisms.verify", description=__doc__)
    parser.add_argument("bundle", type=Path, help="the zip of a release, as it was downloaded")
    parser.add_argument("--key", help="the portal's public key, in hexadecimal digits; its keys page has it")
    given = parser.parse_args(arguments)
    try:
        findings = list(verify(Bundle.read(given.bundle), given.key))
    except BundleError as fault:
        print(f"{given.bundle}: {fault}")
        return 1
    for finding in findings:
        print(finding)
    holding, failed, aside = (sum(each.state is state for each in findings) for state in State)
    print(f"{holding} hold, {failed} failed, {aside} not checked.")
    unsigned = given.key and any(each.what == WHAT and each.state is not State.HOLDS for each in findings)
    return int(failed > 0 or bool(unsigned))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
