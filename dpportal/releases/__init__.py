"""Releases: wizard, job, pages and downloads of whatever is published once."""
