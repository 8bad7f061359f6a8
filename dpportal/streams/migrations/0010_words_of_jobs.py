"""What the jobs of a running count are called."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("streams", "0009_forgotten_at")]

    operations = [
        migrations.AlterField(
            model_name="streamjob",
            name="kind",
            field=models.CharField(
                choices=[
                    ("open", "Opening"),
                    ("records", "Count a file of records"),
                    ("counts", "Add many periods"),
                ],
                max_length=7,
            ),
        ),
    ]
