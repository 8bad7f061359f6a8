"""Histograms: counts over the cells of a declared domain, with noise."""
