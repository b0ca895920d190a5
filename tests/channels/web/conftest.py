"""One browser for all tests of a module."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.channels.web.browser import chromium, launched


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    if chromium() is None:
        pytest.skip("there is no Chromium on this machine")
    async with launched() as started:
        yield started
