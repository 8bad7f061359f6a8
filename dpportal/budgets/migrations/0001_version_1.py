import django.db.models.deletion
import django.db.models.expressions
import dpportal.budgets.amounts
import uuid
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('budgets', '0001_initial'),
        ('budgets', '0002_priced_requests'),
        ('budgets', '0003_granted_tables'),
        ('budgets', '0004_spendable_delta'),
        ('budgets', '0005_request_for_delta'),
        ('budgets', '0006_spent_charges_index'),
        ('budgets', '0007_said_in_plain_words'),
    ]

    dependencies = [
        ('datasets', '0001_version_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='MemoryMark',
            fields=[
                ('mark', models.CharField(max_length=64, primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_fixed', models.BooleanField(default=False)),
                ('neighbours', models.CharField(blank=True, max_length=12)),
                ('unit_column', models.CharField(blank=True, max_length=200)),
                ('ignore_case', models.BooleanField(default=False)),
                ('definition', models.CharField(choices=[('pure', 'pure ε'), ('zcdp', 'zCDP ρ')], default='pure', max_length=5)),
                ('delta_exponent', models.PositiveSmallIntegerField(default=6, help_text='zCDP is also shown as (ε, δ) with δ = 10⁻ⁿ; this is n.')),
                ('total', dpportal.budgets.amounts.AmountField(default=Decimal('0'))),
                ('spent', dpportal.budgets.amounts.AmountField(default=Decimal('0'))),
                ('reserved', dpportal.budgets.amounts.AmountField(default=Decimal('0'))),
                ('delta_total', dpportal.budgets.amounts.DeltaField(db_default=Decimal('0'), default=Decimal('0'))),
                ('delta_spent', dpportal.budgets.amounts.DeltaField(db_default=Decimal('0'), default=Decimal('0'))),
                ('delta_reserved', dpportal.budgets.amounts.DeltaField(db_default=Decimal('0'), default=Decimal('0'))),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='budgets', to='datasets.dataset')),
            ],
            options={
                'ordering': ['pk'],
                'base_manager_name': 'objects',
            },
        ),
        migrations.CreateModel(
            name='BudgetRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(max_length=500)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('amount', dpportal.budgets.amounts.AmountField(null=True)),
                ('delta', dpportal.budgets.amounts.DeltaField(db_default=Decimal('0'), default=Decimal('0'))),
                ('definition', models.CharField(blank=True, choices=[('pure', 'pure ε'), ('zcdp', 'zCDP ρ')], max_length=5)),
                ('margin', models.CharField(blank=True, max_length=200)),
                ('address', models.CharField(blank=True, max_length=200)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('granted', 'granted'), ('declined', 'declined')], default='waiting', max_length=8)),
                ('answer', models.CharField(blank=True, max_length=500)),
                ('answered_at', models.DateTimeField(null=True)),
                ('seen', models.BooleanField(default=False)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='budget_requests', to='datasets.dataset')),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='LedgerEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('grant', 'Grant'), ('reduction', 'Reduction'), ('charge', 'Privacy cost')], max_length=10)),
                ('state', models.CharField(choices=[('reserved', 'Reserved'), ('spent', 'Spent'), ('void', 'Not spent'), ('booked', 'Entered')], max_length=10)),
                ('amount', dpportal.budgets.amounts.AmountField()),
                ('delta', dpportal.budgets.amounts.DeltaField(db_default=Decimal('0'), default=Decimal('0'))),
                ('reason', models.CharField(max_length=300, verbose_name='reason')),
                ('key', models.UUIDField(default=uuid.uuid4, unique=True, verbose_name='charged for')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('settled_at', models.DateTimeField(null=True)),
                ('total_public', models.BooleanField(default=False)),
                ('budget', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='budgets.budget')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='datasets.dataset')),
            ],
            options={
                'verbose_name_plural': 'ledger entries',
                'ordering': ['-at', '-pk'],
                'base_manager_name': 'objects',
            },
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.UniqueConstraint(condition=models.Q(('is_fixed', True)), fields=('dataset', 'neighbours', 'unit_column', 'ignore_case'), name='one_budget_per_protection'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.UniqueConstraint(condition=models.Q(('is_fixed', False)), fields=('dataset',), name='one_budget_without_protection'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('total__gte', django.db.models.expressions.CombinedExpression(models.F('spent'), '+', models.F('reserved')))), name='budget_is_never_overspent'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('reserved__gte', 0), ('spent__gte', 0)), name='budget_parts_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('delta_total__gte', django.db.models.expressions.CombinedExpression(models.F('delta_spent'), '+', models.F('delta_reserved')))), name='delta_is_never_overspent'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(('delta_reserved__gte', 0), ('delta_spent__gte', 0)), name='delta_parts_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='budgetrequest',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('dataset',), name='one_waiting_request_of_a_dataset'),
        ),
        migrations.AddIndex(
            model_name='ledgerentry',
            index=models.Index(fields=['dataset', 'state', 'settled_at'], name='spent_charges'),
        ),
        migrations.AddConstraint(
            model_name='ledgerentry',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='ledger_amounts_are_positive'),
        ),
        migrations.AddConstraint(
            model_name='ledgerentry',
            constraint=models.CheckConstraint(condition=models.Q(('delta__gte', 0)), name='ledger_deltas_are_not_negative'),
        ),
    ]
