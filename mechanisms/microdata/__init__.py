"""Rows for tables of many columns, from noisy tables of one column and of two."""
