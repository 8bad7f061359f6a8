"""Jobs and whose they are by the database's clock; queues, limits, heartbeats, the embedded portal's processes."""
