"""From a draft to a spent budget, in four steps."""
