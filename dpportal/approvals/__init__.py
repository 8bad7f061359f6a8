"""Two people: acts that a site wants a second one for wait here until an administrator has approved or refused them."""
