import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # Those of the code before version 1.0, of which a database may have all.
    replaces = [
        ('approvals', '0001_initial'),
        ('approvals', '0002_recorded_approvals'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Approval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('subject', models.CharField(max_length=64)),
                ('arguments', models.JSONField(default=dict)),
                ('summary', models.TextField()),
                ('recorded', models.TextField(default='')),
                ('address', models.CharField(max_length=200)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('approved', 'approved and done'), ('refused', 'refused'), ('expired', 'expired'), ('outdated', 'approved, but not possible any more'), ('replaced', 'replaced by a later request')], default='waiting', max_length=8)),
                ('answer', models.CharField(blank=True, max_length=500)),
                ('answered_at', models.DateTimeField(null=True)),
                ('answered_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-at', '-pk'],
                'indexes': [models.Index(fields=['kind', 'subject', '-at'], name='approval_subject')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('kind', 'subject'), name='one_waiting_approval'), models.CheckConstraint(condition=models.Q(('answered_by__isnull', True), models.Q(('answered_by', models.F('by')), _negated=True), _connector='OR'), name='nobody_answers_their_own_request')],
            },
        ),
    ]
