import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('jobs', '0001_initial'),
    ]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('worker', 'Worker'), ('sweep', 'Sweep')], max_length=6)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('own_clock', models.DateTimeField()),
                ('queues', models.JSONField(default=list)),
                ('busy', models.BooleanField(default=False)),
                ('obstacle', models.TextField(blank=True, default='')),
            ],
            options={
                'ordering': ['kind', 'name'],
            },
        ),
        migrations.CreateModel(
            name='StoredQuestion',
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
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('answered_by', models.CharField(db_index=True, max_length=40)),
                ('question', models.JSONField()),
                ('answer', models.JSONField(null=True)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='jobs_stored_state_c6037a_idx')],
            },
        ),
    ]
