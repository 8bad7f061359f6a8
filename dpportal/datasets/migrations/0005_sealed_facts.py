from django.db import migrations

import dpportal.sealed


def seal(apps, schema_editor):
    for model_name, name in SEALED:
        model = apps.get_model("datasets", model_name)
        for row in model._base_manager.only("pk", f"{name}_open").iterator():
            model._base_manager.filter(pk=row.pk).update(**{name: getattr(row, f"{name}_open")})


SEALED = [("dataset", "rows"), ("dataset", "facts")]


class Migration(migrations.Migration):

    dependencies = [("datasets", "0004_cancelled")]

    operations = [
        migrations.RenameField("dataset", "rows", "rows_open"),
        migrations.AddField("dataset", "rows", dpportal.sealed.SealedField(null=True)),
        migrations.RenameField("dataset", "facts", "facts_open"),
        migrations.AddField("dataset", "facts", dpportal.sealed.SealedField(default=dict)),
        migrations.RunPython(seal, migrations.RunPython.noop),
        migrations.RemoveField("dataset", "rows_open"),
        migrations.RemoveField("dataset", "facts_open"),
    ]
