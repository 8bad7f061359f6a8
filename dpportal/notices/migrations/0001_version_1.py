import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import dpportal.platform.sealed
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('notices', '0001_initial'),
        ('notices', '0002_failing_since'),
    ]

    dependencies = [
        ('accounts', '0001_version_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='MailChoice',
            fields=[
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='mail_choice', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('kinds', models.JSONField(default=list)),
                ('origin', models.CharField(blank=True, max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('address', dpportal.platform.sealed.SealedField(null=True)),
                ('kinds', models.JSONField(default=list)),
                ('secret', dpportal.platform.sealed.SealedField(null=True)),
                ('origin', models.CharField(max_length=300)),
                ('paused', models.BooleanField(default=False)),
                ('failing_since', models.DateTimeField(null=True)),
                ('added_at', models.DateTimeField(auto_now_add=True)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['added_at'],
            },
        ),
        migrations.CreateModel(
            name='AllowedHost',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(max_length=253, verbose_name='host')),
                ('port', models.PositiveIntegerField(default=443, verbose_name='port')),
                ('plain', models.BooleanField(default=False, verbose_name='also by http')),
                ('private', models.BooleanField(default=False, verbose_name='also in a private network')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['host', 'port'],
                'constraints': [models.UniqueConstraint(fields=('host', 'port'), name='one_line_for_a_host')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
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
                ('kind', models.CharField(choices=[('job.finished', 'A job that you started has ended, or waits for your word'), ('budget.decided', 'A budget of your dataset is granted or declined'), ('period.added', 'A period is added to a running count of your dataset'), ('webhook.test', 'A test that you sent')], max_length=20)),
                ('body', models.TextField()),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('fault', models.CharField(blank=True, max_length=300)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='notices.webhook')),
            ],
            options={
                'ordering': ['-at'],
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='notices_del_state_3269eb_idx')],
            },
        ),
    ]
