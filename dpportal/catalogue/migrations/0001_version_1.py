import django.db.models.functions.datetime
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('catalogue', '0001_initial'),
        ('catalogue', '0002_bundle_checks'),
        ('catalogue', '0003_signed_checks'),
    ]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Readership',
            fields=[
                ('publication', models.UUIDField(primary_key=True, serialize=False)),
                ('times', models.PositiveBigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='BundleCheck',
            fields=[
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('step', models.CharField(blank=True, max_length=20)),
                ('progress', models.BigIntegerField(default=0)),
                ('progress_total', models.BigIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('hinted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('queued_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('failure', models.TextField(blank=True)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('file', models.CharField(max_length=100)),
                ('network', models.CharField(blank=True, max_length=45)),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('findings', models.JSONField(null=True)),
                ('publication', models.UUIDField(null=True)),
                ('release_sha256', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='catalogue_b_state_7f0646_idx')],
            },
        ),
    ]
