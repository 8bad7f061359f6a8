"""A conversion can be cancelled, and leaves its dataset so."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets", "0003_fit")]

    operations = [
        migrations.AlterField(
            model_name="dataset",
            name="state",
            field=models.CharField(
                choices=[
                    ("converting", "Converting"),
                    ("refused", "Not loaded"),
                    ("duplicate", "Already uploaded"),
                    ("stored", "Stored"),
                    ("erased", "Records deleted"),
                    ("outdated", "Upload again"),
                    ("cancelled", "Cancelled"),
                ],
                default="converting",
                max_length=12,
            ),
        ),
    ]
