import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('datasets', '0002_text_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='Fit',
            fields=[
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('step', models.CharField(blank=True, max_length=20)),
                ('progress', models.BigIntegerField(default=0)),
                ('progress_total', models.BigIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('hinted_at', models.DateTimeField(auto_now_add=True)),
                ('queued_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('failure', models.TextField(blank=True)),
                ('dataset', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='fit', serialize=False, to='datasets.dataset')),
                ('asked', models.CharField(editable=False, max_length=64)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='datasets_fi_state_99c55b_idx')],
            },
        ),
    ]
