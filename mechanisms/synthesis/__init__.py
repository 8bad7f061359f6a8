"""Synthetic tables made from what was released."""
