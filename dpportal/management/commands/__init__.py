"""`manage.py portal` and `manage.py sweep`."""
