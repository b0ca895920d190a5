"""Every example of the specifications is something that Telegram takes."""

from __future__ import annotations

import pytest

from channels.telegram.entities import Renderer
from tests.channels.telegram.reading import illegal
from tests.outbox.styled.examples import COMMONMARK_EXAMPLES, GFM_NUMBERS, commonmark, gfm, needs_spec, needs_suite


@needs_spec
@pytest.mark.parametrize("number", range(1, COMMONMARK_EXAMPLES + 1))
def test_commonmark_example(number: int) -> None:
    assert not illegal(Renderer().render(commonmark()[number].markdown))


@needs_suite
@pytest.mark.parametrize("number", GFM_NUMBERS)
def test_gfm_example(number: int) -> None:
    assert not illegal(Renderer().render(gfm()[number].markdown))
