"""Connected databases, whose tables are counted there: who may read what, and a session that can only read."""
