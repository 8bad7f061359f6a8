"""Spark by Spark Connect: sessions, SQL, views and the size of what a plan reads."""
