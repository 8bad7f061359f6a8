"""PostgreSQL: sessions that only read, and what its views are made of."""
