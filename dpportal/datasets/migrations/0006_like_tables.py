"""Sketches of tables, by which administrators learn of tables that are alike; curators learn of their own alone.

Also: a curator's word on columns that look like identifiers is kept.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import dpportal.sealed


def forget_other_owners(apps, _schema_editor):
    """A table that another curator holds, too, is a table like any other; only grants ask about it."""
    datasets = apps.get_model("datasets", "Dataset").objects
    firsts = {}
    for copy in datasets.filter(duplicate_of__isnull=False).order_by("created_at").select_related("duplicate_of"):
        if copy.duplicate_of.owner_id == copy.owner_id:
            continue
        first = firsts.setdefault((copy.owner_id, copy.fingerprint), copy)
        if first is copy:
            state = "stored" if copy.state == "duplicate" else copy.state
            datasets.filter(pk=copy.pk).update(duplicate_of=None, state=state)
        else:
            datasets.filter(pk=copy.pk).update(duplicate_of=first)


class Migration(migrations.Migration):
    dependencies = [
        ("datasets", "0005_sealed_facts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="TableSketch",
            fields=[
                (
                    "dataset",
                    models.OneToOneField(
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sketch",
                        serialize=False,
                        to="datasets.dataset",
                    ),
                ),
                ("content", dpportal.sealed.SealedField()),
            ],
        ),
        migrations.RemoveConstraint(model_name="dataset", name="one_original_per_fingerprint"),
        migrations.AddConstraint(
            model_name="dataset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("duplicate_of__isnull", True), models.Q(("fingerprint", ""), _negated=True)),
                fields=("owner", "fingerprint"),
                name="one_original_of_an_owner",
            ),
        ),
        migrations.AddField(
            model_name="dataset",
            name="one_row_columns",
            field=models.JSONField(default=list, editable=False),
        ),
        migrations.RunPython(forget_other_owners, migrations.RunPython.noop),
    ]
