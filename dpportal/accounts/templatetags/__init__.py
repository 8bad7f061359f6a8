"""How templates show messages to whoever is signed in."""
