"""Commands that change accounts, recorded."""
