"""What a field means and in which cell a row is, written once for every engine.

DuckDB counts uploads; connected tables are counted in their own database.

Nothing here knows Django or opens a connection; every function makes expressions or SQL text.
"""
