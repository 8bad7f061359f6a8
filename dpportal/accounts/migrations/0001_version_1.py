import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import dpportal.accounts.models
import dpportal.platform.sealed
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('accounts', '0001_initial'),
        ('accounts', '0002_failed_sign_ins'),
        ('accounts', '0003_second_factors'),
        ('accounts', '0004_person_language'),
        ('accounts', '0005_wrong_codes'),
        ('accounts', '0006_provider_seen'),
        ('accounts', '0007_names_in_words'),
        ('accounts', '0008_strangers_in_the_record'),
        ('accounts', '0009_browser_language'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('role', models.CharField(choices=[('curator', 'Curator'), ('administrator', 'Administrator'), ('analyst', 'Analyst')], default='analyst', max_length=15)),
                ('display_name', models.CharField(blank=True, help_text='Stands on what you publish and in its downloads; the name that you sign in with never does. Without one they say “a curator of this portal”.', max_length=80, validators=[dpportal.accounts.models.validate_printable], verbose_name='display name')),
                ('language', models.CharField(blank=True, default='', editable=False, max_length=10)),
                ('browser_language', models.CharField(blank=True, default='', editable=False, max_length=10)),
                ('must_change_password', models.BooleanField(default=False, editable=False)),
                ('unseen_changes', models.BooleanField(default=False, editable=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'person',
                'verbose_name_plural': 'people',
            },
            managers=[
                ('objects', dpportal.accounts.models.PortalUserManager()),
            ],
        ),
        migrations.CreateModel(
            name='FailedSignIn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('person', models.BigIntegerField()),
                ('by_token', models.BooleanField(default=False)),
                ('address', models.CharField(max_length=45)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='MailHint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hinted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name='ResetRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('network', models.CharField(db_index=True, max_length=45)),
                ('address', models.CharField(db_index=True, max_length=64)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='SecondFactorRule',
            fields=[
                ('role', models.CharField(choices=[('curator', 'Curator'), ('administrator', 'Administrator'), ('analyst', 'Analyst')], max_length=15, primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name='AuthenticatorApp',
            fields=[
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='authenticator_app', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('secret', dpportal.platform.sealed.SealedField(null=True)),
                ('unconfirmed', dpportal.platform.sealed.SealedField(null=True)),
                ('last_step', models.BigIntegerField(default=0)),
                ('wrong_codes', models.PositiveIntegerField(default=0)),
                ('added_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='OutgoingMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('text', 'Text'), ('reset', 'Reset')], default='text', max_length=5)),
                ('to', models.EmailField(max_length=254)),
                ('subject', models.CharField(blank=True, max_length=200)),
                ('text', models.TextField(blank=True)),
                ('origin', models.CharField(blank=True, max_length=300)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Passkey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60, validators=[dpportal.accounts.models.validate_printable], verbose_name='name')),
                ('credential', models.CharField(max_length=1400, unique=True)),
                ('public_key', models.BinaryField()),
                ('sign_count', models.BigIntegerField()),
                ('added_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='passkeys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='PersonSession',
            fields=[
                ('session_key', models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name='session key')),
                ('session_data', models.TextField(verbose_name='session data')),
                ('expire_date', models.DateTimeField(db_index=True, verbose_name='expire date')),
                ('began_at', models.DateTimeField(null=True)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('browser', models.CharField(max_length=60)),
                ('network', models.CharField(max_length=45)),
                ('how', models.CharField(default='', max_length=20)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'session',
                'verbose_name_plural': 'sessions',
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='RecoveryCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recovery_codes', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('action', models.CharField(max_length=40)),
                ('subject', models.CharField(max_length=120)),
                ('detail', models.TextField(blank=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-at'],
                'indexes': [models.Index(fields=['subject', '-at'], name='audit_subject')],
            },
        ),
        migrations.CreateModel(
            name='ProviderIdentity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('issuer', models.CharField(max_length=300)),
                ('subject', models.CharField(max_length=255)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('person', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='provider_identity', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='one_person_per_subject')],
            },
        ),
    ]
