"""Strategies: what is measured, as integer matrices over the cells, with their norms and least squares."""
