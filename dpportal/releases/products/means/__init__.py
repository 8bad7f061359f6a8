"""Totals and means: number, total, mean and deviation of numeric columns, by groups."""
