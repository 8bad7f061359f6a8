from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("releases", "0005_microdata")]

    operations = [migrations.DeleteModel(name="Advice")]
