"""A notebook beside the files of a bundle: it reads them, draws their charts and works their margins out again.

The same program twice: as a script, in cells that editors know by `# %%`, and for Jupyter. It holds no text of a
release, which it reads from release.json as it runs; so it is written as it is, for every release of a product.
"""

from __future__ import annotations

from pathlib import Path

from django.template.loader import render_to_string

from dpportal.publications.archive import BundleFile, write_json
from mechanisms.tabular.notebook import jupyter

SCRIPT, JUPYTER = "notebook.py", "notebook.ipynb"
ABOUT_SCRIPT = "Reads the files, draws their charts and works the margins out again, in Python"
ABOUT_JUPYTER = "The same as notebook.py, for Jupyter"
READING = "publications/notebook/reading.py"


def notebook_files(folder: Path, template: str) -> list[BundleFile]:
    """Write both. template: of the cells that are the product's own, after those that all have."""
    source = f"{render_to_string(READING)}\n\n{render_to_string(template)}"
    script = folder / SCRIPT
    script.write_text(source, encoding="utf-8")
    return [
        BundleFile(script, ABOUT_SCRIPT),
        write_json(folder / JUPYTER, ABOUT_JUPYTER, dict(jupyter(source))),
    ]
