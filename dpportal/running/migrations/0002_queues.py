"""Each worker says which queues it listens to, and whether it could take a further job."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("running", "0001_initial")]

    operations = [
        migrations.AddField("heartbeat", "queues", models.JSONField(default=list)),
        migrations.AddField("heartbeat", "busy", models.BooleanField(default=False)),
    ]
