from django.db import migrations, models


def mark(apps, schema_editor):
    """Which streams of earlier days make the number of rows public."""
    entries = apps.get_model("budgets", "LedgerEntry").objects
    streams = apps.get_model("streams", "Stream").objects.exclude(charge=None).exclude(plan_json=None)
    for stream in streams.values("charge", "plan_json").iterator():
        loss = stream["plan_json"]["loss"]
        is_public = loss["neighbours"] == "replace-one" and int(loss["max_rows"]) == 1
        if is_public and not loss.get("may_be_absent"):
            entries.filter(pk=stream["charge"]).update(total_public=True)


class Migration(migrations.Migration):
    dependencies = [("streams", "0011_repeats_by_period_alone"), ("budgets", "0007_public_totals")]

    operations = [
        migrations.AddField(model_name="stream", name="compared_at", field=models.DateTimeField(null=True)),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
