"""Figures: arrays in, charts out; no model, no file."""
