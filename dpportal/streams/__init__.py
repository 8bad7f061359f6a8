"""Running counts: opened once, every period published once."""
