import django.db.models.deletion
import django.db.models.functions.datetime
import dpportal.budgets.amounts
import dpportal.platform.sealed
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('releases', '0001_initial'),
        ('releases', '0002_summary'),
        ('releases', '0003_changed_promises'),
        ('releases', '0004_priced_in'),
        ('releases', '0005_publishes_itself'),
        ('releases', '0006_said_of_files'),
        ('releases', '0007_proposed_amounts'),
        ('releases', '0008_proposed_methods'),
        ('releases', '0009_sealed_failure'),
    ]

    dependencies = [
        ('budgets', '0001_version_1'),
        ('datasets', '0001_version_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChangedPromise',
            fields=[
                ('dataset', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='datasets.dataset')),
                ('mark', models.UUIDField(default=uuid.uuid4, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('mechanism', models.CharField(blank=True, max_length=60)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('requested_at', models.DateTimeField(null=True)),
                ('plan_json', models.JSONField(null=True)),
                ('published_at', models.DateTimeField(null=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('withdrawn_because', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('compared_at', models.DateTimeField(null=True)),
                ('doi', models.CharField(blank=True, max_length=200, verbose_name='DOI')),
                ('supersedes_since', models.DateTimeField(null=True)),
                ('amount', dpportal.budgets.amounts.AmountField(null=True)),
                ('priced_in', models.CharField(blank=True, choices=[('pure', 'pure ε'), ('zcdp', 'zCDP ρ')], max_length=5)),
                ('is_amount_proposed', models.BooleanField(default=False)),
                ('is_method_proposed', models.BooleanField(default=False)),
                ('title', models.CharField(blank=True, max_length=160, verbose_name='title')),
                ('product', models.CharField(choices=[('histogram', 'Histogram and synthetic table'), ('queries', 'Answers to many queries'), ('microdata', 'Synthetic table of many columns'), ('means', 'Totals and means'), ('summary', 'Summary (Table 1)'), ('selection', 'Private choice'), ('response', 'Randomised answers')], default='histogram', max_length=20)),
                ('columns', models.JSONField(default=list)),
                ('parameters', models.JSONField(default=dict)),
                ('purpose', models.CharField(choices=[('cells', 'Single cells'), ('ranges', 'Ranges: sums over any interval of neighbouring cells'), ('totals', 'Running totals: sums from the first cell on')], default='cells', max_length=10)),
                ('people', models.PositiveBigIntegerField(null=True, verbose_name='your estimate of the number of people')),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('requested', 'In work'), ('measured', 'Being written'), ('ready', 'Ready'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='draft', max_length=10)),
                ('skipped_steps', models.JSONField(default=list)),
                ('publishes_itself', models.BooleanField(default=False)),
                ('measured_at', models.DateTimeField(null=True)),
                ('measurement', models.CharField(blank=True, max_length=200)),
                ('measurement_sha256', dpportal.platform.sealed.SealedField(null=True)),
                ('true_counts', models.CharField(blank=True, max_length=200)),
                ('read_from', models.CharField(blank=True, max_length=400)),
                ('result', models.CharField(blank=True, max_length=200)),
                ('words', models.CharField(blank=True, editable=False, max_length=64)),
                ('promises', models.CharField(blank=True, editable=False, max_length=64)),
                ('spending', models.CharField(blank=True, editable=False, max_length=64)),
                ('words_at', models.DateTimeField(editable=False, null=True)),
                ('charge', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='release', to='budgets.ledgerentry')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='datasets.dataset')),
                ('domain_version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='datasets.domainversion')),
                ('supersedes', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='successors', to='releases.release')),
            ],
            options={
                'ordering': ['-created_at'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Artifact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('stored', models.CharField(max_length=200)),
                ('size', models.BigIntegerField()),
                ('sha256', dpportal.platform.sealed.SealedField(null=True)),
                ('about', models.CharField(max_length=200)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='artifacts', to='releases.release')),
            ],
            options={
                'ordering': ['pk'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ReleaseJob',
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
                ('release', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='job', serialize=False, to='releases.release')),
                ('put_off', models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='releases_re_state_d7c816_idx')],
            },
        ),
        migrations.AddIndex(
            model_name='release',
            index=models.Index(fields=['published_at', 'withdrawn_at'], name='releases_re_publish_3d5131_idx'),
        ),
        migrations.AddConstraint(
            model_name='artifact',
            constraint=models.UniqueConstraint(fields=('release', 'name'), name='one_artifact_per_name'),
        ),
    ]
