"""How templates name what a stream counts."""
