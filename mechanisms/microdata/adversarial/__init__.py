"""Rows by a generative adversarial network: an optional extra, with exact noise on whole numbers."""
