"""Values that nobody declared: a private choice of which of a column's texts become its declared values."""
