"""Addresses survive being written down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.address import Address

parts = st.text(max_size=12)


@given(parts.filter(bool), parts, parts.filter(bool), parts)
def test_every_address_survives_the_round_trip(channel: str, account: str, chat: str, thread: str) -> None:
    address = Address(channel, account, chat, thread)
    assert Address.parse(str(address)) == address


def test_an_address_is_written_as_documented() -> None:
    assert str(Address("telegram", "main", "123")) == "telegram:main:123:"


@pytest.mark.parametrize("text", ["", "telegram", "telegram:main:123", "::1:", "telegram:main::", "a:b:c:d:e"])
def test_what_is_no_address_is_refused_with_advice(text: str) -> None:
    with pytest.raises(ValueError, match="channel:account:chat:thread"):
        Address.parse(text)
