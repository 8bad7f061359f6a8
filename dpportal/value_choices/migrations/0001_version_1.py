import django.db.models.deletion
import django.db.models.functions.datetime
import dpportal.platform.sealed
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('value_choices', '0001_initial'),
        ('value_choices', '0002_sealed_failure'),
    ]

    dependencies = [
        ('budgets', '0001_version_1'),
        ('datasets', '0001_version_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ValueChoice',
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
                ('failure', dpportal.platform.sealed.SealedField(default=str)),
                ('seen', models.BooleanField(default=False)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('column', models.CharField(max_length=200)),
                ('plan_json', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('measured_at', models.DateTimeField(null=True)),
                ('kept', models.JSONField(null=True)),
                ('undeclared', models.TextField(blank=True)),
                ('charge', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='value_choice', to='budgets.ledgerentry')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='value_choices', to='datasets.dataset')),
                ('domain_version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='datasets.domainversion')),
            ],
            options={
                'ordering': ['-created_at'],
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='value_choic_state_ed086c_idx')],
            },
        ),
    ]
