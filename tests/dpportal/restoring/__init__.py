"""A package, so that the portals that its tests share end with its last test."""
