import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def owners_made_them(apps, schema_editor):
    """Until now a dataset was its owner's alone."""
    for token in apps.get_model("streams", "Token").objects.select_related("stream__dataset"):
        token.by_id = token.stream.dataset.owner_id
        token.save(update_fields=["by"])


class Migration(migrations.Migration):

    dependencies = [
        ("streams", "0008_versions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="token",
            name="by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(owners_made_them, migrations.RunPython.noop),
    ]
