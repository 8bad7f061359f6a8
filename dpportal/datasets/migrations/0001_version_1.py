import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import dpportal.platform.sealed
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('datasets', '0001_initial'),
        ('datasets', '0002_unit_and_granted_table'),
        ('datasets', '0003_erase_on'),
        ('datasets', '0004_area_map'),
        ('datasets', '0005_dataset_keys'),
        ('datasets', '0006_begun_uploads'),
        ('datasets', '0007_erased_traces'),
        ('datasets', '0008_sealed_failure'),
        ('datasets', '0009_left_traces'),
        ('datasets', '0010_sealed_failure'),
    ]

    dependencies = [
        ('connections', '0001_version_1'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Dataset',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('description', models.TextField(blank=True, verbose_name='description')),
                ('state', models.CharField(choices=[('converting', 'Converting'), ('refused', 'Not loaded'), ('duplicate', 'Already uploaded'), ('stored', 'Stored'), ('erased', 'Records deleted'), ('cancelled', 'Cancelled'), ('counted', 'Without a table')], default='converting', max_length=12)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('relations', models.JSONField(default=list, editable=False)),
                ('file_name', models.CharField(editable=False, max_length=255)),
                ('upload', models.CharField(blank=True, editable=False, max_length=200)),
                ('megabytes', models.PositiveIntegerField(default=0, editable=False)),
                ('options', models.JSONField(default=dict, editable=False)),
                ('reading_frozen', models.BooleanField(default=False, editable=False)),
                ('table', models.CharField(blank=True, editable=False, max_length=200)),
                ('rows', dpportal.platform.sealed.SealedField(null=True)),
                ('columns', models.JSONField(default=list, editable=False)),
                ('column_looks', dpportal.platform.sealed.SealedField(default=list)),
                ('facts', dpportal.platform.sealed.SealedField(default=dict)),
                ('unit_declared', models.BooleanField(default=False, editable=False)),
                ('erase_on', models.DateField(editable=False, null=True)),
                ('one_row_columns', models.JSONField(default=list, editable=False)),
                ('filled_columns', models.JSONField(default=list, editable=False)),
                ('fingerprint', models.CharField(blank=True, db_index=True, editable=False, max_length=64)),
                ('granted_fingerprint', models.CharField(blank=True, editable=False, max_length=64)),
                ('duplicate_of', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='datasets.dataset')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='datasets', to=settings.AUTH_USER_MODEL)),
                ('same_people', models.ManyToManyField(editable=False, to='datasets.dataset')),
                ('source', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='datasets', to='connections.sharedtable')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='DatasetKey',
            fields=[
                ('dataset_id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('wrapped', models.BinaryField()),
                ('is_for_all', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='ErasureReceipt',
            fields=[
                ('dataset_id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('document', models.TextField(editable=False)),
                ('key_gone_at', models.DateTimeField(editable=False, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='LeftTrace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset_id', models.UUIDField(editable=False, null=True)),
                ('since', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('cleared', models.JSONField(default=list, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='BegunUpload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, max_length=120)),
                ('description', models.TextField(blank=True)),
                ('file_name', models.CharField(max_length=255)),
                ('size', dpportal.platform.sealed.SealedField(null=True)),
                ('offset', dpportal.platform.sealed.SealedField(default=int)),
                ('sha256', dpportal.platform.sealed.SealedField(null=True)),
                ('megabytes', models.PositiveIntegerField()),
                ('options', models.JSONField(default=dict)),
                ('finished', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='PublicDescription',
            fields=[
                ('dataset', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='public_description', serialize=False, to='datasets.dataset')),
                ('shown', models.BooleanField(default=False, verbose_name='show this with everything that is published of this dataset')),
                ('text', models.TextField(blank=True, max_length=4000, verbose_name='what the data are about')),
                ('keywords', models.JSONField(blank=True, default=list, verbose_name='keywords')),
                ('place', models.CharField(blank=True, max_length=160, verbose_name='place')),
                ('first', models.CharField(blank=True, max_length=10, verbose_name='from')),
                ('last', models.CharField(blank=True, max_length=10, verbose_name='to')),
                ('publisher', models.CharField(blank=True, max_length=160, verbose_name='publisher')),
                ('contact', models.CharField(blank=True, max_length=200, verbose_name='contact')),
                ('licence', models.CharField(blank=True, max_length=20, verbose_name='licence')),
            ],
        ),
        migrations.CreateModel(
            name='TableSketch',
            fields=[
                ('dataset', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='sketch', serialize=False, to='datasets.dataset')),
                ('content', dpportal.platform.sealed.SealedField()),
            ],
        ),
        migrations.CreateModel(
            name='AreaMap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('column', models.CharField(max_length=200)),
                ('outlines', models.JSONField()),
                ('credit', models.CharField(blank=True, max_length=200, verbose_name='source of the areas')),
                ('dataset', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='datasets.dataset')),
            ],
        ),
        migrations.CreateModel(
            name='DirectUpload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, max_length=120)),
                ('description', models.TextField(blank=True)),
                ('file_name', models.CharField(max_length=255)),
                ('size', dpportal.platform.sealed.SealedField()),
                ('megabytes', models.PositiveIntegerField()),
                ('options', models.JSONField(default=dict)),
                ('stored', models.CharField(max_length=200)),
                ('key', models.CharField(max_length=1024)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='DomainVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('neighbours', models.CharField(choices=[('add-remove', 'add-remove'), ('replace-one', 'replace-one')], default='add-remove', max_length=12)),
                ('unit_column', models.CharField(blank=True, max_length=200)),
                ('max_rows', models.PositiveIntegerField(default=1)),
                ('ignore_case', models.BooleanField(default=False)),
                ('frozen', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='domain_versions', to='datasets.dataset')),
            ],
            options={
                'ordering': ['-version'],
            },
        ),
        migrations.CreateModel(
            name='AttributeDeclaration',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('column', models.CharField(max_length=200)),
                ('declaration', models.JSONField()),
                ('filled_from_data', models.BooleanField(default=False)),
                ('domain_version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attributes', to='datasets.domainversion')),
            ],
            options={
                'ordering': ['position', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('right', models.PositiveSmallIntegerField(choices=[(1, 'See'), (2, 'Release'), (3, 'Own')])),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('seen', models.BooleanField(default=False, editable=False)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='datasets.dataset')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['at'],
            },
        ),
        migrations.CreateModel(
            name='UploadPiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('stored', models.CharField(max_length=200)),
                ('upload', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='datasets.begunupload')),
            ],
            options={
                'ordering': ['number'],
            },
        ),
        migrations.CreateModel(
            name='Conversion',
            fields=[
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('step', models.CharField(blank=True, max_length=20)),
                ('progress', models.BigIntegerField(default=0)),
                ('progress_total', models.BigIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('hinted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('queued_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('failure', dpportal.platform.sealed.SealedField(default=str)),
                ('dataset', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='conversion', serialize=False, to='datasets.dataset')),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='datasets_co_state_df75f4_idx')],
            },
        ),
        migrations.CreateModel(
            name='Fit',
            fields=[
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('step', models.CharField(blank=True, max_length=20)),
                ('progress', models.BigIntegerField(default=0)),
                ('progress_total', models.BigIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('hinted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('queued_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('failure', dpportal.platform.sealed.SealedField(default=str)),
                ('dataset', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='fit', serialize=False, to='datasets.dataset')),
                ('asked', models.CharField(editable=False, max_length=64)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['state', 'lease_until'], name='datasets_fi_state_99c55b_idx')],
            },
        ),
        migrations.AddConstraint(
            model_name='dataset',
            constraint=models.UniqueConstraint(condition=models.Q(('duplicate_of__isnull', True), models.Q(('fingerprint', ''), _negated=True)), fields=('owner', 'fingerprint'), name='one_original_of_an_owner'),
        ),
        migrations.AddConstraint(
            model_name='areamap',
            constraint=models.UniqueConstraint(fields=('dataset', 'column'), name='one_map_per_column'),
        ),
        migrations.AddConstraint(
            model_name='domainversion',
            constraint=models.UniqueConstraint(fields=('dataset', 'version'), name='one_domain_per_version'),
        ),
        migrations.AddConstraint(
            model_name='attributedeclaration',
            constraint=models.UniqueConstraint(fields=('domain_version', 'column'), name='one_declaration_per_column'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(fields=('dataset', 'person'), name='one_right_of_a_person'),
        ),
        migrations.AddConstraint(
            model_name='uploadpiece',
            constraint=models.UniqueConstraint(fields=('upload', 'number'), name='one_piece_of_a_number'),
        ),
    ]
