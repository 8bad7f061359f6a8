import dpportal.platform.sealed
from django.db import migrations

ERASED, WHY_DELETED = "erased", "The reason was deleted with the records."


def seal_failures(apps, schema_editor):
    """Why a job failed was not sealed before, and of a table elsewhere it could tell how many rows were expected.

    Such a reason goes, as that of erased records does; the database's files are rid of all of them.
    """
    for job in apps.get_model("value_choices", "ValueChoice").objects.exclude(failure_before="").select_related("dataset"):
        dataset = job.dataset
        kept = "" if dataset.source_id else job.failure_before
        job.failure = WHY_DELETED if dataset.state == ERASED else kept
        job.save(update_fields=["failure"])
    if schema_editor.connection.vendor == "postgresql":
        apps.get_model("datasets", "LeftTrace").objects.create()


class Migration(migrations.Migration):

    dependencies = [
        ('value_choices', '0001_initial'),
        ('datasets', '0009_left_traces'),
    ]

    operations = [
        migrations.RenameField(model_name='valuechoice', old_name='failure', new_name='failure_before'),
        migrations.AddField(
            model_name='valuechoice',
            name='failure',
            field=dpportal.platform.sealed.SealedField(default=str),
        ),
        migrations.RunPython(seal_failures, migrations.RunPython.noop),
        migrations.RemoveField(model_name='valuechoice', name='failure_before'),
    ]
