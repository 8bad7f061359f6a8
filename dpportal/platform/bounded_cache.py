"""A cache of things of very different sizes, as large as all of them together may be."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Cached = TypeVar("Cached")


class BoundedCache(Generic[Key, Cached]):
    """Values that never change by their keys; the ones used last stay. Threads may share it."""

    def __init__(self, most: int, size: Callable[[Cached], int]) -> None:
        """most: what the sizes of all values add up to at most; a larger value does not stay."""
        self.most = most
        self._size = size
        self._values: OrderedDict[Key, tuple[int, Cached]] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, key: Key, compute: Callable[[], Cached]) -> Cached:
        """The value of a key, computed if there is none; nobody else waits for that."""
        with self._changing:
            if (known := self._values.get(key)) is not None:
                self._values.move_to_end(key)
                return known[1]
        value = compute()
        with self._changing:
            self._values[key] = self._size(value), value
            while sum(size for size, _value in self._values.values()) > self.most:
                self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        with self._changing:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
