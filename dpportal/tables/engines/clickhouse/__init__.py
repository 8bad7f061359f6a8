"""ClickHouse by HTTP: sessions, SQL, views and error codes."""
