"""People and their roles, signing in, and the record of who looked at what."""
