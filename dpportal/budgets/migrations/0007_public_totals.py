from django.db import migrations, models


class Migration(migrations.Migration):
    """Which charges make a number of rows public; releases and streams fill it in for those of earlier days."""

    dependencies = [("budgets", "0006_delta_in_words")]

    operations = [
        migrations.AddField(
            model_name="ledgerentry",
            name="total_public",
            field=models.BooleanField(default=False),
        ),
    ]
