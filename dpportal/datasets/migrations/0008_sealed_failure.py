import dpportal.platform.sealed
from django.db import migrations


def seal_failures(apps, schema_editor):
    """Why a job failed could tell a number of rows, and was not sealed before."""
    for job in apps.get_model("datasets", "Conversion").objects.exclude(failure_before=""):
        job.failure = job.failure_before
        job.save(update_fields=["failure"])


class Migration(migrations.Migration):

    dependencies = [
        ('datasets', '0007_erased_traces'),
    ]

    operations = [
        migrations.RenameField(model_name='conversion', old_name='failure', new_name='failure_before'),
        migrations.AddField(
            model_name='conversion',
            name='failure',
            field=dpportal.platform.sealed.SealedField(default=str),
        ),
        migrations.RunPython(seal_failures, migrations.RunPython.noop),
        migrations.RemoveField(model_name='conversion', name='failure_before'),
    ]
