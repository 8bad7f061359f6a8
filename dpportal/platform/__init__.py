"""What the portal's rooms stand on: private files, keys and sealing, the journal outside the database, mail."""
