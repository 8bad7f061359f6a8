from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('releases', '0004_times_of_the_database'),
    ]

    operations = [
        migrations.AlterField(
            model_name='release',
            name='product',
            field=models.CharField(choices=[('histogram', 'Histogram and synthetic table'), ('queries', 'Answers to many queries'), ('microdata', 'Synthetic table of many columns'), ('selection', 'Private choice'), ('response', 'Randomised answers')], default='histogram', max_length=20),
        ),
    ]
