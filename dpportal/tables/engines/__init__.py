"""The engines that count a table: a folder each, with session, dialect and definitions."""
