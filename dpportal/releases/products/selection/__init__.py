"""Private choice: which of the declared candidates is best."""
