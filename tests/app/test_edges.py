"""The channels of a daemon, and the HTTP server that is there with or without the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app.edges import http_place
from bot.config.load import load


@pytest.mark.parametrize(
    ("channels", "place"),
    [
        ('{telegram: {token: "1:a"}}', ("127.0.0.1", 8717)),
        ('{telegram: {token: "1:a"}, web: off}', ("127.0.0.1", 8717)),
        ('{telegram: {token: "1:a"}, web: {port: 9000}}', ("127.0.0.1", 9000)),
        ("{web: {host: 0.0.0.0, port: 0, token: abcdefgh}}", ("0.0.0.0", 0)),
    ],
)
def test_health_and_metrics_have_a_place_also_without_the_page(
    tmp_path: Path, channels: str, place: tuple[str, int]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"channels: {channels}\n")
    assert http_place(load(file, {})) == place
