from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets", "0014_tableless")]

    operations = [
        # Rights of earlier days are no news.
        migrations.AddField("share", "seen", models.BooleanField(default=True, editable=False)),
        migrations.AlterField("share", "seen", models.BooleanField(default=False, editable=False)),
    ]
