"""How Chinese writes dates and numbers."""
