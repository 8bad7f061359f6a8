import dpportal.platform.sealed
from django.db import migrations


def seal_failures(apps, schema_editor):
    """Why a job failed could tell a number of rows, and was not sealed before."""
    for job in apps.get_model("streams", "StreamJob").objects.exclude(failure_before=""):
        job.failure = job.failure_before
        job.save(update_fields=["failure"])


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0007_proposed_methods'),
    ]

    operations = [
        migrations.RenameField(model_name='streamjob', old_name='failure', new_name='failure_before'),
        migrations.AddField(
            model_name='streamjob',
            name='failure',
            field=dpportal.platform.sealed.SealedField(default=str),
        ),
        migrations.RunPython(seal_failures, migrations.RunPython.noop),
        migrations.RemoveField(model_name='streamjob', name='failure_before'),
    ]
