"""Which addresses are inside, by every way to write them."""

from __future__ import annotations

import pytest

from dpportal.notices.internet_addresses import may_be_called

PUBLIC = ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"]
PRIVATE = [
    *("10.1.2.3", "172.16.0.1", "192.168.0.1", "100.64.0.1", "127.0.0.1", "127.1.2.3"),
    *("::1", "fc00::1", "fd12::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2002:a00:1::1"),
]
NEVER = [
    *("0.0.0.0", "169.254.169.254", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
    *("::", "fe80::1%eth0", "ff02::1", "fec0::1", "2001:db8::1", "64:ff9b:1::1", "::ffff:169.254.169.254"),
    *("64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_called(address):
    assert may_be_called(address, private=False) and may_be_called(address, private=True)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_ones_only_where_that_was_said(address):
    assert not may_be_called(address, private=False)
    assert may_be_called(address, private=True)


@pytest.mark.parametrize("address", NEVER)
def test_others_never(address):
    assert not may_be_called(address, private=False) and not may_be_called(address, private=True)
