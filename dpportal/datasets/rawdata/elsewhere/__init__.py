"""What a field means and in which cell a row is, written once for every engine: for uploads, which DuckDB counts here,
and for tables that stay in their own database, counted there.

Nothing here knows Django or opens a connection; every function makes expressions or SQL text.
"""
