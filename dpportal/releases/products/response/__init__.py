"""Randomised answers: one column, randomised row by row, with estimated counts."""
