"""A private choice of values that nobody declared: which of them enough people have to be published."""
