"""What somebody at the server's command line does to people's accounts."""
