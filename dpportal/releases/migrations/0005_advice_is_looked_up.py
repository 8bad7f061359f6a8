from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("releases", "0004_times_of_the_database")]

    operations = [migrations.DeleteModel(name="Advice")]
