from __future__ import annotations

import pytest

from bot.cli.language import language_of


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "de_DE"}, "de"),
        ({"LANG": "C.UTF-8"}, "c.utf-8"),
    ],
)
def test_the_language_is_that_of_the_locale(environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language
