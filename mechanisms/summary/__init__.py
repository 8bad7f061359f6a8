"""Every column of a table at one cost: shares, means, deviations, quantiles, by groups ("Table 1")."""
