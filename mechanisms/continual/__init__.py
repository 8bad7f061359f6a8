"""Continual release: running counts that are published again every period."""
