"""Whether two tables share rows or columns: digests of fields, fingerprints and sketches."""
