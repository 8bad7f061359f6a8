"""A package, so that the portal and the browser that its tests share end with its last test."""
