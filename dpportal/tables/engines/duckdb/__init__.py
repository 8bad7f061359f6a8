"""DuckDB, which counts what is stored in the portal."""
