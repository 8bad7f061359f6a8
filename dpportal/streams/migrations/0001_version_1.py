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
        ('streams', '0001_initial'),
        ('streams', '0002_spending_and_pricing'),
        ('streams', '0003_said_of_files'),
        ('streams', '0004_names_in_words'),
        ('streams', '0005_tokens_made_with_tokens'),
        ('streams', '0006_proposed_amounts'),
        ('streams', '0007_proposed_methods'),
        ('streams', '0008_sealed_failure'),
        ('streams', '0009_forgotten_at'),
        ('streams', '0010_words_of_jobs'),
    ]

    dependencies = [
        ('budgets', '0001_version_1'),
        ('datasets', '0001_version_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Period',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('index', models.PositiveIntegerField()),
                ('released', models.JSONField()),
                ('half_width', models.BigIntegerField()),
                ('key', models.CharField(blank=True, max_length=64)),
                ('source', models.CharField(choices=[('typed', 'Typed'), ('program', 'Program'), ('records', 'Records'), ('counts', 'Many periods')], max_length=7)),
                ('published_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['index'],
            },
        ),
        migrations.CreateModel(
            name='Stream',
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
                ('name', models.CharField(max_length=160, verbose_name='name')),
                ('description', models.TextField(blank=True, verbose_name='description')),
                ('column', models.CharField(blank=True, max_length=200)),
                ('cells', models.JSONField(default=list)),
                ('split', models.BooleanField(default=False)),
                ('summed', models.CharField(blank=True, max_length=200)),
                ('largest_increment', models.PositiveBigIntegerField(null=True)),
                ('step', models.CharField(choices=[('day', 'Day'), ('week', 'Week, from Monday'), ('month', 'Month'), ('next', 'No calendar: just the next period')], default='month', max_length=5)),
                ('first_day', models.DateField(null=True)),
                ('horizon', models.PositiveIntegerField(null=True)),
                ('expected', models.PositiveBigIntegerField(null=True)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('opening', 'Being opened'), ('open', 'Open'), ('closed', 'Closed'), ('failed', 'Failed')], default='draft', max_length=8)),
                ('labels', models.JSONField(default=list)),
                ('token_sha256', models.CharField(blank=True, max_length=64)),
                ('opened_at', models.DateTimeField(null=True)),
                ('closed_at', models.DateTimeField(null=True)),
                ('closed_by_restore', models.BooleanField(default=False)),
                ('forgotten_at', models.DateTimeField(editable=False, null=True)),
                ('charge', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='stream', to='budgets.ledgerentry')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='streams', to='datasets.dataset')),
                ('domain_version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='streams', to='datasets.domainversion')),
                ('supersedes', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='successors', to='streams.stream')),
            ],
            options={
                'verbose_name': 'running count',
                'verbose_name_plural': 'running counts',
                'ordering': ['-created_at'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='PeriodSketch',
            fields=[
                ('period', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='sketch', serialize=False, to='streams.period')),
                ('content', dpportal.platform.sealed.SealedField()),
            ],
        ),
        migrations.CreateModel(
            name='SealedSums',
            fields=[
                ('period', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='sealed_sums', serialize=False, to='streams.period')),
                ('sealed', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='SealedState',
            fields=[
                ('stream', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='sealed_state', serialize=False, to='streams.stream')),
                ('version', models.PositiveBigIntegerField(default=0)),
                ('sealed', models.BinaryField()),
            ],
        ),
        migrations.AddField(
            model_name='period',
            name='stream',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='periods', to='streams.stream'),
        ),
        migrations.CreateModel(
            name='SeriesFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('stored', models.CharField(max_length=200)),
                ('size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('about', models.CharField(max_length=300)),
                ('replaced_at', models.DateTimeField(db_index=True, null=True)),
                ('stream', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='streams.stream')),
            ],
            options={
                'ordering': ['pk'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='StreamJob',
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
                ('kind', models.CharField(choices=[('open', 'Opening'), ('records', 'Count a file of records'), ('counts', 'Add many periods')], max_length=7)),
                ('index', models.PositiveIntegerField(null=True)),
                ('file', models.CharField(blank=True, max_length=200)),
                ('file_name', models.CharField(blank=True, max_length=255)),
                ('options', dpportal.platform.sealed.SealedField(default=dict)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('stream', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='jobs', to='streams.stream')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SeriesBundle',
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
                ('stream', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='bundle', serialize=False, to='streams.stream')),
                ('periods', models.PositiveIntegerField(default=0)),
                ('texts', models.CharField(blank=True, max_length=64)),
                ('promises', models.CharField(blank=True, max_length=64)),
                ('spending', models.CharField(blank=True, max_length=64)),
                ('texts_at', models.DateTimeField(null=True)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='streams_ser_state_2bd629_idx')],
            },
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('minute', models.DateTimeField(null=True)),
                ('requests', models.PositiveIntegerField(default=0)),
                ('stream', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='token', serialize=False, to='streams.stream')),
                ('made_with', models.UUIDField(null=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddIndex(
            model_name='stream',
            index=models.Index(fields=['published_at', 'withdrawn_at'], name='streams_str_publish_35e66e_idx'),
        ),
        migrations.AddConstraint(
            model_name='period',
            constraint=models.UniqueConstraint(fields=('stream', 'index'), name='a_period_is_published_once'),
        ),
        migrations.AddConstraint(
            model_name='seriesfile',
            constraint=models.UniqueConstraint(condition=models.Q(('replaced_at', None)), fields=('stream', 'name'), name='one_present_file_per_name'),
        ),
        migrations.AddIndex(
            model_name='streamjob',
            index=models.Index(fields=['state', 'lease_until'], name='streams_str_state_278660_idx'),
        ),
        migrations.AddConstraint(
            model_name='streamjob',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ('queued', 'running'))), fields=('stream',), name='one_job_of_a_stream_at_a_time'),
        ),
    ]
