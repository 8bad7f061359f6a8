import django.utils.timezone
from django.db import migrations, models


def note_all(apps, schema_editor):
    """Receipts that wait, and what earlier versions left in PostgreSQL's files."""
    traces = apps.get_model("datasets", "LeftTrace").objects
    for receipt in apps.get_model("datasets", "ErasureReceipt").objects.filter(key_gone_at=None):
        traces.create(dataset_id=receipt.pk)
    if schema_editor.connection.vendor == "postgresql":
        traces.create()


class Migration(migrations.Migration):

    dependencies = [
        ('datasets', '0008_sealed_failure'),
    ]

    operations = [
        migrations.CreateModel(
            name='LeftTrace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset_id', models.UUIDField(editable=False, null=True)),
                ('since', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('cleared', models.JSONField(default=list, editable=False)),
            ],
        ),
        migrations.RunPython(note_all, migrations.RunPython.noop),
    ]
