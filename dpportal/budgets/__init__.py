"""Privacy budgets: what was granted, and the ledger of everything that was spent."""
