from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("releases", "0004_priced_in")]

    operations = [
        migrations.AddField(
            model_name="release",
            name="publishes_itself",
            field=models.BooleanField(default=False),
        ),
    ]
