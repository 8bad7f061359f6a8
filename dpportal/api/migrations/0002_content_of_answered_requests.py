from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('api', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='answeredrequest',
            name='content',
            field=models.CharField(default='', max_length=64),
            preserve_default=False,
        ),
    ]
