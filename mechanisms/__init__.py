"""Differentially private mechanisms on vectors of counts: numpy, scipy and pandas, no web framework."""
