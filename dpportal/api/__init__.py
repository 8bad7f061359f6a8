"""The HTTP API: what a browser can do, a program can do, by the same services."""
