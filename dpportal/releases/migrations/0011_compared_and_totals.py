from django.db import migrations, models


def mark(apps, schema_editor):
    """What releases of earlier days promised: whether their number of rows is public, and whom they counted."""
    entries = apps.get_model("budgets", "LedgerEntry").objects
    releases = apps.get_model("releases", "Release").objects.exclude(charge=None).exclude(plan_json=None)
    for release in releases.values("pk", "charge", "plan_json").iterator():
        loss = release["plan_json"]["loss"]
        is_public = loss["neighbours"] == "replace-one" and int(loss["max_rows"]) == 1
        if is_public and not loss.get("may_be_absent"):
            entries.filter(pk=release["charge"]).update(total_public=True)
    measured = apps.get_model("releases", "Release").objects.exclude(measurement="")
    measured.exclude(domain_version__unit_column="").update(unidentified_counted=True)


class Migration(migrations.Migration):
    dependencies = [("releases", "0010_words"), ("budgets", "0007_public_totals")]

    operations = [
        migrations.AddField(
            model_name="release", name="compared_at", field=models.DateTimeField(null=True)
        ),
        migrations.AddField(
            model_name="release",
            name="unidentified_counted",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
