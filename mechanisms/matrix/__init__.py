"""The matrix mechanism: workloads of linear queries, answered through a strategy of small error."""
