"""The portal's own commands."""
