"""Marginal tables of any number of columns, planned, measured and answered without counting the whole domain."""
