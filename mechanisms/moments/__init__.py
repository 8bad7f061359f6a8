"""Totals, means and standard deviations of numeric columns, by sums of Bernstein polynomials."""
