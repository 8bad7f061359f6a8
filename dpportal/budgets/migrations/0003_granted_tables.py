"""Budgets that were granted before tables were compared stay with the tables that they were granted for."""

from django.db import migrations
from django.db.models import F


def keep(apps, schema_editor):
    Dataset = apps.get_model("datasets", "Dataset")
    granted = Dataset.objects.filter(budgets__total__gt=0).values("pk")
    Dataset.objects.filter(pk__in=granted).update(granted_fingerprint=F("fingerprint"))
    charged = Dataset.objects.filter(ledger__kind="charge").values("pk")
    Dataset.objects.filter(pk__in=charged).update(unit_declared=True)


class Migration(migrations.Migration):

    dependencies = [
        ('budgets', '0002_priced_requests'),
        ('datasets', '0002_unit_and_granted_table'),
    ]

    operations = [migrations.RunPython(keep, migrations.RunPython.noop)]
