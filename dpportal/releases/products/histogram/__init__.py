"""The product "histogram and synthetic table"."""
