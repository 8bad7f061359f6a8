import django.db.models.deletion
import dpportal.budgets.amounts
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('api', '0001_initial'),
        ('api', '0002_content_of_answered_requests'),
    ]

    dependencies = [
        ('budgets', '0001_version_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('minute', models.DateTimeField(null=True)),
                ('requests', models.PositiveIntegerField(default=0)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80, verbose_name='name')),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('scope', models.CharField(choices=[('read', 'Read'), ('release', 'Release, up to an amount'), ('administer', 'Administer datasets, and release up to an amount')], default='read', max_length=10, verbose_name='what it opens')),
                ('limit', dpportal.budgets.amounts.AmountField(null=True)),
                ('counted_in', models.CharField(choices=[('pure', 'pure ε'), ('zcdp', 'zCDP ρ')], default='pure', max_length=5)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-made_at'],
            },
        ),
        migrations.CreateModel(
            name='TokenCharge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entry', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='budgets.ledgerentry')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='charges', to='api.apitoken')),
            ],
        ),
        migrations.CreateModel(
            name='AnsweredRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('content', models.CharField(max_length=64)),
                ('act', models.CharField(max_length=100)),
                ('subject', models.UUIDField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('person', 'key'), name='one_act_for_a_key')],
            },
        ),
    ]
