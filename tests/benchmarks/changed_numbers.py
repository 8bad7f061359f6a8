"""How many changed numbers of bundles are noticed: of sentences, tables, charts' words and their shapes.

Run: python -m tests.benchmarks.changed_numbers release.zip … [--count 200] [--missed]
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundles", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--missed", action="store_true", help="name those that were not noticed")
    given = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from tests.dpportal.publications.changed_numbers import noticed

    for path in given.bundles:
        with tempfile.TemporaryDirectory() as folder:
            found = noticed(Path(shutil.copy(path, folder)), given.count, seed=7)
        print(
            path.stem,
            {kind: f"{count / given.count:.1%}" for kind, (count, _missed) in found.items()},
            flush=True,
        )
        for kind, (_count, missed) in found.items() if given.missed else ():
            print(*(f"  {kind}: {each}" for each in missed), sep="\n")


if __name__ == "__main__":
    main()
