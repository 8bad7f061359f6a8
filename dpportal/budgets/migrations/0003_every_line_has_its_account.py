import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Apart from the move of the lines: PostgreSQL changes no table that the same transaction wrote to."""

    dependencies = [("budgets", "0002_account_per_protection")]

    operations = [
        migrations.AlterField(
            model_name="ledgerentry",
            name="budget",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="entries", to="budgets.budget"
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_fixed", True)),
                fields=("dataset", "neighbours", "unit_column", "ignore_case"),
                name="one_budget_per_protection",
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_fixed", False)), fields=("dataset",), name="one_budget_without_protection"
            ),
        ),
    ]
