"""Channels and providers are found by their files; nothing heavy is imported to know that they are there."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.config.discover import Shelf, builder
from bot.core.errors import ConfigError

VENDORS = (
    "anthropic",
    "openai",
    "ollama",
    "httpx",
    "httpx2",
    "telegram",
    "discord",
    "slack_bolt",
    "slack_sdk",
    "xllamacpp",
)
CONFIG = """
    from pydantic import BaseModel
    class Config(BaseModel):
        token: str = ""
"""
BUILD = """
    def build(config, kit):
        return config.token
"""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """A package with a channel of every form."""
    files = {
        "__init__.py": '"""Channels."""',
        "plain.py": CONFIG + BUILD,
        "wrapper.py": "def wrap(): ...",
        "half.py": CONFIG,
        "folder/__init__.py": "",
        "folder/channel.py": CONFIG + BUILD,
        "light/__init__.py": "",
        "light/config.py": CONFIG,
        "light/channel.py": "    import no_such_library\n    from shelf_under_test.light.config import Config" + BUILD,
        "heavy.py": "    import no_such_library.deep" + CONFIG + BUILD,
        "broken.py": "    import bot.no_such_module" + CONFIG + BUILD,
    }
    for name, text in files.items():
        file = tmp_path / "shelf_under_test" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    yield Shelf("shelf_under_test", "channel")
    for module in [name for name in sys.modules if name.startswith("shelf_under_test")]:
        del sys.modules[module]


def test_every_module_with_config_and_build_is_a_kind(shelf: Shelf) -> None:
    assert shelf.names() == ["broken", "folder", "heavy", "light", "plain"]
    assert not any(name.startswith("shelf_under_test.") and "channel" in name for name in sys.modules)


def test_a_kind_knows_its_module_and_its_own_config(shelf: Shelf) -> None:
    plain, folder = shelf.kind("plain"), shelf.kind("folder")
    assert plain is not None
    assert folder is not None
    assert (plain.module, folder.module) == ("shelf_under_test.plain", "shelf_under_test.folder.channel")
    assert builder(plain.module)(plain.config(token="t"), None) == "t"
    assert shelf.kind("nothing") is None
    assert shelf.kind("wrapper") is None


def test_a_config_in_a_file_of_its_own_is_read_without_the_vendors_library(shelf: Shelf) -> None:
    light = shelf.kind("light")
    assert light is not None
    assert light.module == "shelf_under_test.light.channel"
    assert "shelf_under_test.light.channel" not in sys.modules


def test_a_library_without_which_the_keys_are_not_known_is_named_with_what_to_do(shelf: Shelf) -> None:
    with pytest.raises(ConfigError, match=r"no_such_library is not installed: pip install 'bowerbird\[heavy\]'"):
        shelf.kind("heavy")


def test_a_defect_of_our_own_is_not_taken_for_a_missing_library(shelf: Shelf) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        shelf.kind("broken")


@pytest.mark.parametrize("shelf", ["CHANNELS", "PROVIDERS"])
def test_the_keys_of_every_kind_are_known_without_its_library(shelf: str) -> None:
    code = f"""if True:
        import sys
        from bot.config.discover import {shelf} as shelf
        assert all(shelf.kind(name).config.model_fields is not None for name in shelf.names())
        print(*sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = done.stdout.split()
    assert ("channels.telegram.config" if shelf == "CHANNELS" else "bot.providers.openai") in imported
    assert not {*VENDORS} & {*imported}


def test_a_module_that_is_no_kind_is_not_imported_to_know_it(shelf: Shelf) -> None:
    assert shelf.kind("wrapper") is None
    assert "wrapper" not in shelf.names()
    assert "shelf_under_test.wrapper" not in sys.modules
