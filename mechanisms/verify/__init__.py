"""Checks a downloaded bundle without the portal: `python -m mechanisms.verify release.zip`.

Whoever has the file and this package derives again what was promised and what was made: which noise the stated loss
asks for, and the published numbers from the measurement. No network, and no data but the file.
"""
