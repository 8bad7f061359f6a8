from django.db import migrations, models

import dpportal.sealed


def seal(apps, schema_editor):
    for model_name, name in SEALED:
        model = apps.get_model("streams", model_name)
        for row in model._base_manager.only("pk", f"{name}_open").iterator():
            model._base_manager.filter(pk=row.pk).update(**{name: getattr(row, f"{name}_open")})


SEALED = [("streamjob", "options")]


class Migration(migrations.Migration):

    dependencies = [("streams", "0003_token")]

    operations = [
        migrations.AddField("stream", "closed_by_restore", models.BooleanField(default=False)),
        migrations.RenameField("streamjob", "options", "options_open"),
        migrations.AddField("streamjob", "options", dpportal.sealed.SealedField(default=dict)),
        migrations.RunPython(seal, migrations.RunPython.noop),
        migrations.RemoveField("streamjob", "options_open"),
    ]
