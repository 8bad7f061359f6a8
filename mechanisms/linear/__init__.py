"""Linear queries that several families measure: trees, Haar wavelets, dyadic blocks."""
