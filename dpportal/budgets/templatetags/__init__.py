"""How templates write amounts and numbers."""
