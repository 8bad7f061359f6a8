from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('running', '0003_workings'),
    ]

    operations = [
        migrations.AddField(
            model_name='heartbeat',
            name='obstacle',
            field=models.TextField(blank=True, default=''),
        ),
    ]
