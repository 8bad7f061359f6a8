"""A summary of many columns at one cost, by groups: the "Table 1" of a report."""
