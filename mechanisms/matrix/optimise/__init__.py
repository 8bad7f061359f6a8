"""Strategies of least expected error for a workload, found from its Gram matrix alone: no data, no loss."""
