"""Workloads: the queries that are asked, their one-line text form, and matrices that are never written down."""
