"""Differentially private mechanisms on vectors of counts: numpy, scipy and pandas, no web framework."""

__version__ = "1.0.0"
