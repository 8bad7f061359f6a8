"""Databases elsewhere whose tables are counted where they are: who may read what, and a session that can only read."""
