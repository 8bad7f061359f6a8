"""PostgreSQL: a trigger that never fires is named and made again."""

from __future__ import annotations

import json

import pytest

from tests.dpportal.world import with_servers

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis]

AUDIT = "accounts_auditentry"
MADE = "CREATE TRIGGER {name} BEFORE UPDATE {of} ON {table} FOR EACH ROW {when} EXECUTE FUNCTION {name}()"


def made(of: str = "", table: str = AUDIT, when: str = "") -> str:
    made_so = MADE.replace("{of}", of).replace("{table}", table).replace("{when}", when)
    return f"DROP TRIGGER {{name}} ON {AUDIT}; {made_so}"


TOOTHLESS = {
    "for replicas alone": f"ALTER TABLE {AUDIT} ENABLE REPLICA TRIGGER {{name}}",
    "never": made(when="WHEN (false)"),
    "for one column": made(of="OF subject"),
    "of another table": made(table="budgets_budgetrequest"),
    "of one in capitals": f'CREATE TABLE "{AUDIT.upper()}" (LIKE {AUDIT}); '
    + made(table=f'"{AUDIT.upper()}"'),
    "for another event": made().replace("BEFORE UPDATE", "BEFORE INSERT"),
    "afterwards": made().replace("BEFORE UPDATE", "AFTER UPDATE"),
    "behind a decoy": made() + f"; {made(table='budgets_budgetrequest').partition(';')[2]}; "
    f"ALTER TABLE {AUDIT} DISABLE TRIGGER {{name}}",
    "with another path": "ALTER FUNCTION {name}() SET search_path = pg_temp",
}
LOSE = """
import json, sys
import django
django.setup()
from django.db import connection
from dpportal.operations import verification
from dpportal.platform.triggers import guards
guard = guards["accounts"]
[name] = [each for each in guard.expected("postgresql") if "change" in each]
said = {}
for how, statement in json.loads(sys.argv[1]).items():
    assert list(verification.lost_triggers()) == [], how
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("{name}", name))
    said[how] = [text.replace(name, "NAME") for text in verification.lost_triggers()]
    guard.install("default")
assert list(verification.lost_triggers()) == []
with connection.cursor() as cursor:
    cursor.execute(f"ALTER TABLE accounts_auditentry ENABLE ALWAYS TRIGGER {name}")
assert list(verification.lost_triggers()) == []
print(json.dumps(said))
"""


def test_each_way_to_keep_a_trigger_from_firing_is_named_and_undone(
    tmp_path, postgres_url, redis_url
) -> None:
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        said = json.loads(world.run("-c", LOSE, json.dumps(TOOTHLESS)))
    assert {how for how, texts in said.items() if len(texts) != 1} == set()
    assert all("trigger NAME is gone, changed or switched off" in texts[0] for texts in said.values())
