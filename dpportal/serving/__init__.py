"""How requests reach the portal: who may send how much for how long, and which threads answer."""
