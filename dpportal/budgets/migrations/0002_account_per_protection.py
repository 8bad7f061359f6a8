import django.db.models.deletion
from collections import defaultdict
from django.db import migrations, models

MOVED = "Moved to the account of those for whom it was spent"


def protection_of(charge, releases, streams):
    """Whom the release or stream behind a charge protected, as (neighbours, unit_column); None if it is gone."""
    paid = releases.filter(charge=charge).first() or streams.filter(charge=charge).first()
    version = paid and paid.domain_version
    return (version.neighbours, version.unit_column) if version else None


def open_accounts(apps, schema_editor):
    """Give each line its account, and what was charged for others than the first protection an account of its own.

    What is left to the first account stays as it was: what others' charges took from it was granted for both together.
    """
    Budget, LedgerEntry = apps.get_model("budgets", "Budget"), apps.get_model("budgets", "LedgerEntry")
    releases = apps.get_model("releases", "Release").objects
    streams = apps.get_model("streams", "Stream").objects
    for budget in Budget.objects.all():
        lines = LedgerEntry._base_manager.filter(dataset_id=budget.dataset_id)
        models.QuerySet.update(lines, budget=budget)
        charges = defaultdict(list)
        for charge in lines.filter(kind="charge").order_by("at", "pk"):
            charges[protection_of(charge, releases, streams)].append(charge)
        known = [protection for protection in charges if protection is not None]
        if not known:
            continue
        budget.is_fixed, (budget.neighbours, budget.unit_column) = True, known[0]
        budget.save()
        for neighbours, unit_column in known[1:]:
            move(budget, charges[neighbours, unit_column], neighbours, unit_column, Budget, LedgerEntry)


def move(budget, charges, neighbours, unit_column, Budget, LedgerEntry):
    spent = sum((c.amount for c in charges if c.state == "spent"), start=0)
    reserved = sum((c.amount for c in charges if c.state == "reserved"), start=0)
    other = Budget.objects.create(
        dataset_id=budget.dataset_id, definition=budget.definition, delta_exponent=budget.delta_exponent,
        is_fixed=True, neighbours=neighbours, unit_column=unit_column,
        total=spent + reserved, spent=spent, reserved=reserved,
    )
    budget.total, budget.spent, budget.reserved = (
        budget.total - spent - reserved, budget.spent - spent, budget.reserved - reserved
    )
    budget.save()
    models.QuerySet.update(LedgerEntry._base_manager.filter(pk__in=[c.pk for c in charges]), budget=other)
    if spent + reserved:
        shared = {"dataset_id": budget.dataset_id, "state": "booked", "amount": spent + reserved, "reason": MOVED,
                  "by_id": charges[0].by_id}
        LedgerEntry(kind="reduction", budget=budget, **shared).save()
        LedgerEntry(kind="grant", budget=other, **shared).save()


class Migration(migrations.Migration):

    dependencies = [
        ("budgets", "0001_initial"),
        ("datasets", "0001_initial"),
        ("releases", "0002_queries"),
        ("streams", "0002_seen_jobs"),
    ]

    operations = [
        migrations.AlterModelOptions(name="budget", options={"ordering": ["pk"]}),
        migrations.AlterField(
            model_name="budget",
            name="dataset",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="budgets", to="datasets.dataset"
            ),
        ),
        migrations.AddField(model_name="budget", name="is_fixed", field=models.BooleanField(default=False)),
        migrations.AddField(
            model_name="budget", name="neighbours", field=models.CharField(blank=True, default="", max_length=12),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="budget", name="unit_column", field=models.CharField(blank=True, default="", max_length=200),
            preserve_default=False,
        ),
        migrations.AddField(model_name="budget", name="ignore_case", field=models.BooleanField(default=False)),
        migrations.AddField(
            model_name="ledgerentry",
            name="budget",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="budgets.budget"
            ),
        ),
        migrations.RunPython(open_accounts, migrations.RunPython.noop),
    ]
