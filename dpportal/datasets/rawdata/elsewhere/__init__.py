"""Tables that stay in their own database, counted there: one definition of a cell, compiled for each engine.

Nothing here knows Django or opens a connection; every function makes expressions or SQL text.
"""
