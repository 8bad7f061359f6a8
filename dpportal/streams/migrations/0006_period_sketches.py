"""What a period's file of records held, sealed: the same file for a second period is asked about."""

import django.db.models.deletion
from django.db import migrations, models

import dpportal.sealed


class Migration(migrations.Migration):
    dependencies = [("streams", "0005_times_of_the_database")]

    operations = [
        migrations.CreateModel(
            name="PeriodSketch",
            fields=[
                (
                    "period",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sketch",
                        serialize=False,
                        to="streams.period",
                    ),
                ),
                ("content", dpportal.sealed.SealedField()),
            ],
        ),
    ]
