"""What was used last stays, as far as there is room for all of it together."""

from functools import partial

from dpportal.platform.bounded_cache import BoundedCache


def test_the_values_that_were_used_last_stay():
    computed: list[str] = []

    def compute(key: str) -> str:
        computed.append(key)
        return key * 10

    cache = BoundedCache[str, str](30, size=len)
    for key in "abcad":
        assert cache.get(key, partial(compute, key)) == key * 10
    assert len(cache) == 3 and computed == list("abcd")
    for key in "acd":
        cache.get(key, partial(compute, key))
    assert computed == list("abcd")
    cache.get("b", partial(compute, "b"))
    assert computed == list("abcdb")


def test_a_value_that_is_too_large_does_not_stay():
    cache = BoundedCache[int, str](3, size=len)
    assert [cache.get(1, lambda: "1234"), cache.get(1, lambda: "5678")] == ["1234", "5678"] and not len(cache)
