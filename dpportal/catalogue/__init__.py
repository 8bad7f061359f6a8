"""What everyone may see: published releases and running counts, to be found by what they are about."""
