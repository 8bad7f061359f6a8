"""Which method to take, from what was measured on drawn tables; no data is looked at."""
