"""The product "synthetic table of many columns"."""
