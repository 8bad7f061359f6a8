"""Tables are stored as texts and read by declared options; a table stored by kind asks for its file again."""

from django.db import migrations, models

# Names under which encodings were stored, and their present ones.
ENCODINGS = {
    "utf-8-sig": "utf-8",
    "utf_8_sig": "utf-8",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "iso8859-1": "latin-1",
    "iso8859-2": "iso-8859-2",
    "iso8859-15": "iso-8859-15",
    **{f"cp125{number}": f"windows-125{number}" for number in (0, 1, 2, 3, 4, 7)},
}
READ = ("utf-8", "utf-16", "utf-32", "latin-1", "windows-1252", *ENCODINGS.values())


def declare_options(apps, schema_editor):
    Dataset = apps.get_model("datasets", "Dataset")
    Declaration = apps.get_model("datasets", "AttributeDeclaration")
    for dataset in Dataset.objects.all():
        old, facts = dataset.options, dataset.facts
        encoding = facts.get("encoding") or old.get("encoding")
        encoding = ENCODINGS.get(encoding, encoding)
        dataset.options = {
            "delimiter": facts.get("delimiter") or old.get("delimiter"),
            "encoding": encoding if encoding in READ else None,
            "thousands": old.get("thousands"),
            "missing": old.get("missing", []),
        }
        if dataset.table:
            # Its original is gone, and releases may rest on how it was read.
            dataset.reading_frozen = True
            dataset.options |= {
                "decimal": "," if old.get("thousands") == "." else ".",
                "thousands": old.get("thousands") or "",
                "date_format": "iso",
            }
            # What a kind made of a text cannot be undone: 1.0 and 1 became one number.
            if dataset.state in ("stored", "duplicate") and any(c["kind"] != "text" for c in dataset.columns):
                dataset.state = "outdated"
        marked = Declaration.objects.filter(domain_version__dataset=dataset, filled_from_data=True)
        dataset.filled_columns = sorted(set(marked.values_list("column", flat=True)))
        dataset.save(update_fields=["options", "state", "reading_frozen", "filled_columns"])


class Migration(migrations.Migration):
    dependencies = [("datasets", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="dataset",
            name="state",
            field=models.CharField(
                choices=[
                    ("converting", "Converting"),
                    ("refused", "Not loaded"),
                    ("duplicate", "Already uploaded"),
                    ("stored", "Stored"),
                    ("erased", "Records deleted"),
                    ("outdated", "Upload again"),
                ],
                default="converting",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="domainversion", name="ignore_case", field=models.BooleanField(default=False)
        ),
        migrations.AddField(
            model_name="dataset",
            name="reading_frozen",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddField(
            model_name="dataset",
            name="filled_columns",
            field=models.JSONField(default=list, editable=False),
        ),
        migrations.RunPython(declare_options, migrations.RunPython.noop),
    ]
