"""How templates name what a release asked."""
