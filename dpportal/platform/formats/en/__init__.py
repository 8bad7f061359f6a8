"""How English writes dates and numbers."""
