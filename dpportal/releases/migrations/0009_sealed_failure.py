import dpportal.platform.sealed
from django.db import migrations

ERASED, WHY_DELETED = "erased", "The reason was deleted with the records."


def seal_failures(apps, schema_editor):
    """Why a job failed was not sealed before, and of a table elsewhere it could tell how many rows were expected.

    Such a reason goes, as that of erased records does; the database's files are rid of all of them.
    """
    for job in apps.get_model("releases", "ReleaseJob").objects.exclude(failure_before="").select_related("release__dataset"):
        dataset = job.release.dataset
        kept = "" if dataset.source_id else job.failure_before
        job.failure = WHY_DELETED if dataset.state == ERASED else kept
        job.save(update_fields=["failure"])
    if schema_editor.connection.vendor == "postgresql":
        apps.get_model("datasets", "LeftTrace").objects.create()


class Migration(migrations.Migration):

    dependencies = [
        ('releases', '0008_proposed_methods'),
        ('datasets', '0009_left_traces'),
    ]

    operations = [
        migrations.RenameField(model_name='releasejob', old_name='failure', new_name='failure_before'),
        migrations.AddField(
            model_name='releasejob',
            name='failure',
            field=dpportal.platform.sealed.SealedField(default=str),
        ),
        migrations.RunPython(seal_failures, migrations.RunPython.noop),
        migrations.RemoveField(model_name='releasejob', name='failure_before'),
    ]
