"""One hash chain over the lines of ledger and audit record, and signed checkpoints of it."""
