"""Notices of finished jobs, budgets and added periods: by mail, and to programs by signed webhooks."""
