"""Tables that curators upload, and what they declare as publicly known about them."""
