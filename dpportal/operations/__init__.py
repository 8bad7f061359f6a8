"""What knows all rooms: health, the restore check, sealing anew, the sweep, the demonstration, the first pages."""
