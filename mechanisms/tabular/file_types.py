"""The media types of the files that readers get, by the endings of their names."""

FILE_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "npy": "application/octet-stream",
    "npz": "application/octet-stream",
    "md": "text/markdown; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "py": "text/x-python; charset=utf-8",
    "svg": "image/svg+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "zip": "application/zip",
}


def media_type(name: str) -> str:
    """Of a file, by its name. Raises KeyError for an ending that no file of a bundle has."""
    return FILE_TYPES[name.rpartition(".")[2]]
