import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('connections', '0001_initial'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Connection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True, verbose_name='name')),
                ('kind', models.CharField(choices=[('postgresql', 'PostgreSQL'), ('spark', 'Spark, by Spark Connect'), ('clickhouse', 'ClickHouse, by HTTP')], default='postgresql', help_text='PostgreSQL and ClickHouse hold each session to reading. Spark cannot: the portal sends it SELECT alone, and its user or token should be allowed to read nothing but the tables that are offered.', max_length=20, verbose_name='kind')),
                ('host', models.CharField(max_length=255, verbose_name='host')),
                ('port', models.PositiveIntegerField(default=5432, help_text='Of PostgreSQL usually 5432, of Spark Connect 15002, of ClickHouse 8443, or 8123 not encrypted.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(65535)], verbose_name='port')),
                ('database', models.CharField(blank=True, help_text='Of Spark the catalog. Of Spark and ClickHouse their own one if left empty.', max_length=128, verbose_name='database')),
                ('user', models.CharField(blank=True, help_text='Best one that may read nothing but the tables that are offered.', max_length=128, verbose_name='user')),
                ('credential', models.CharField(blank=True, help_text="The name of the password, or of Spark's bearer token, small letters, digits and _: the portal reads it from the environment variable DPPORTAL_CREDENTIAL_ and the name in capitals, or from the file of that name in the folder for credentials. There it says itself for which host, port and encryption it is. It is never kept in the portal's database.", max_length=40, validators=[django.core.validators.RegexValidator('\\A[a-z][a-z0-9_]{0,39}\\Z')], verbose_name='credential')),
                ('encryption', models.CharField(choices=[('verify-full', "encrypted, and the server's certificate is verified"), ('require', 'encrypted'), ('disable', 'not encrypted: on this machine or a trusted network only')], default='verify-full', max_length=12, verbose_name='encryption')),
                ('seconds', models.PositiveIntegerField(default=600, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3000)], verbose_name='longest query in seconds')),
                ('most_rows', models.PositiveBigIntegerField(default=1000000000, help_text='As the database expects before it runs the query; one that expects more is refused.', verbose_name='most rows read by a query')),
                ('most_bytes', models.PositiveBigIntegerField(default=1000000000000, help_text='As the database expects before it runs the query; one that expects more is refused.', verbose_name='most bytes read by a query')),
                ('all_curators', models.BooleanField(default=False, verbose_name='for all curators')),
                ('curators', models.ManyToManyField(blank=True, help_text='Who may make datasets of its tables, unless all may.', limit_choices_to={'role': 'curator'}, related_name='connections', to=settings.AUTH_USER_MODEL, verbose_name='curators')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='SharedTable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('title', models.CharField(help_text='Public: releases name the table by it.', max_length=120, verbose_name='title')),
                ('schema', models.CharField(blank=True, help_text="Of ClickHouse the table's database. The connection's own one if left empty.", max_length=128, verbose_name='schema')),
                ('table', models.CharField(blank=True, max_length=128, verbose_name='table or view')),
                ('query', models.TextField(blank=True, help_text='Instead of a table: one SELECT, without a semicolon.', verbose_name='query')),
                ('vouched', models.TextField(blank=True, help_text="Needed only where a view or query joins, limits, samples, sorts into windows or sums up rows, or calls functions that may: why no person's rows decide on rows of others in it. It is recorded with your name.", verbose_name='signed word')),
                ('is_offered', models.BooleanField(default=True, verbose_name='offered')),
                ('connection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tables', to='connections.connection')),
            ],
            options={
                'verbose_name': 'table',
                'ordering': ['connection__name', 'title'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('table', ''), models.Q(('query', ''), _negated=True)), models.Q(models.Q(('table', ''), _negated=True), ('query', '')), _connector='OR'), name='a_table_or_a_query'), models.UniqueConstraint(fields=('connection', 'title'), name='one_title_of_a_connection')],
            },
        ),
    ]
