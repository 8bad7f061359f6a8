"""The product "answers to many queries"."""
