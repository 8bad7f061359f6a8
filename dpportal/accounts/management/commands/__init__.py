"""Django's own commands, recorded."""
