"""Lists all tests, whether each is quick and what it uses, one JSON object a line. Usage: python -m tests.lane"""

from __future__ import annotations

import inspect
import json
import sys
from contextlib import redirect_stdout
from typing import Any

import pytest


class Listing:
    """Notes every test that is collected."""

    def __init__(self) -> None:
        self.tests: list[dict[str, Any]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            assert isinstance(item, pytest.Function)
            fixtures = sorted(item.fixturenames)
            quick = item.get_closest_marker("quick") is not None
            self.tests.append(
                {"id": item.nodeid, "quick": quick, "fixtures": fixtures, "classes": sorted(classes(item))}
            )


def classes(item: pytest.Function) -> set[str]:
    """Whose objects the test is given as parameters, and which classes its module names."""
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    named = [value for value in vars(item.module).values() if inspect.isclass(value)]
    return {_dotted(value) for value in named} | {_dotted(type(value)) for value in given}


def _dotted(kind: type[Any]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


if __name__ == "__main__":
    listing = Listing()
    with redirect_stdout(sys.stderr):
        code = pytest.main(["-n", "0", "-qq", "--collect-only"], plugins=[listing])
    for test in listing.tests:
        print(json.dumps(test))
    raise SystemExit(code)
