from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notices', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='webhook',
            name='failing_since',
            field=models.DateTimeField(null=True),
        ),
    ]
