"""How dates and numbers are written in each language, where Django would write them otherwise."""
