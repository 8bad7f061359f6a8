from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('history', '0001_initial'),
        ('history', '0002_imprints'),
        ('history', '0003_eras'),
        ('history', '0004_seals'),
    ]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Era',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('lines', models.JSONField(default=dict)),
                ('things', models.JSONField(default=dict)),
                ('bound', models.JSONField(default=dict)),
                ('sealed', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='Imprint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('subject', models.CharField(max_length=80)),
                ('digests', models.JSONField(default=dict)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'subject'], name='imprint_of_a_thing')],
            },
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event', models.CharField(max_length=20)),
                ('line', models.BigIntegerField()),
                ('content', models.CharField(max_length=64)),
                ('seal', models.CharField(blank=True, max_length=64)),
                ('position', models.BigIntegerField(null=True, unique=True)),
                ('digest', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('event', 'line'), name='one_link_per_event')],
            },
        ),
    ]
