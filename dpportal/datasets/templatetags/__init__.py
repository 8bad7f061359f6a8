"""How templates name what is said of columns."""
