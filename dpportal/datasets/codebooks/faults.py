"""What is wrong with a codebook, in words, and how large one may be."""

MAX_BYTES = 20 * 2**20


class CodebookError(ValueError):
    """A codebook that cannot be read; the message says what to change.

    place: names of the column and of the field of its declaration that are wrong, as far as they are known.
    """

    def __init__(self, message: str, place: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.place = place


class WrongFieldError(TypeError):
    """A field of a declaration that has another form than it needs, or is missing; `needs` says what it must be."""

    def __init__(self, field: str, needs: str) -> None:
        super().__init__(field)
        self.field, self.needs = field, needs
