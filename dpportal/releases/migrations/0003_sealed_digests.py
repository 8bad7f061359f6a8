from django.db import migrations

import dpportal.sealed


def seal(apps, schema_editor):
    for model_name, name in SEALED:
        model = apps.get_model("releases", model_name)
        for row in model._base_manager.only("pk", f"{name}_open").iterator():
            model._base_manager.filter(pk=row.pk).update(**{name: getattr(row, f"{name}_open")})


SEALED = [("release", "measurement_sha256"), ("artifact", "sha256")]


class Migration(migrations.Migration):

    dependencies = [("releases", "0002_queries")]

    operations = [
        migrations.RenameField("release", "measurement_sha256", "measurement_sha256_open"),
        migrations.AddField("release", "measurement_sha256", dpportal.sealed.SealedField(null=True)),
        migrations.RenameField("artifact", "sha256", "sha256_open"),
        migrations.AddField("artifact", "sha256", dpportal.sealed.SealedField(null=True)),
        migrations.RunPython(seal, migrations.RunPython.noop),
        migrations.RemoveField("release", "measurement_sha256_open"),
        migrations.RemoveField("artifact", "sha256_open"),
    ]
