"""What is wrong with a codebook, in words, and how large one may be."""

MAX_BYTES = 20 * 2**20


class CodebookError(ValueError):
    """A codebook that cannot be read; the message says what to change."""
