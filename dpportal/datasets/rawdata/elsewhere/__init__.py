"""What a field means and in which cell a row is, written once for every engine.

Uploads are counted here, by DuckDB; tables that stay in their own database are counted there.

Nothing here knows Django or opens a connection; every function makes expressions or SQL text.
"""
