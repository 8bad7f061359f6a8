"""What the products share: the three objects that each is made of, and what more than one of them uses."""
