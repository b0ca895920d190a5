"""Channels and providers are found by their files; nothing heavy is imported to know that they are there."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.config import awaited
from bot.config.discover import CHANNELS, NOT_BUILT, PROVIDERS, Shelf, builder
from bot.core.errors import ConfigError

CONFIG = """
    from pydantic import BaseModel
    class Config(BaseModel):
        token: str = ""
"""
BUILD = """
    def build(config, kit):
        return config.token
"""


class Documented(BaseModel):
    token: str = ""


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
        "stranger.py": "    import no_such_library" + CONFIG + BUILD,
        "broken.py": "    import bot.no_such_module" + CONFIG + BUILD,
    }
    for name, text in files.items():
        file = tmp_path / "shelf_under_test" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    yield Shelf("shelf_under_test", "channel", {"heavy": Documented, "coming": Documented})
    for module in [name for name in sys.modules if name.startswith("shelf_under_test")]:
        del sys.modules[module]


def test_every_module_with_config_and_build_is_a_kind_and_so_is_what_is_documented(shelf: Shelf) -> None:
    assert shelf.names() == ["broken", "coming", "folder", "heavy", "light", "plain", "stranger"]
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
    assert (light.module, light.needs) == ("shelf_under_test.light.channel", "")
    assert "shelf_under_test.light.channel" not in sys.modules


def test_what_is_not_built_or_not_installed_has_its_documented_keys(shelf: Shelf) -> None:
    coming, heavy = shelf.kind("coming"), shelf.kind("heavy")
    assert coming is not None
    assert heavy is not None
    assert (coming.config, coming.module, coming.needs) == (Documented, "", NOT_BUILT)
    assert (heavy.config, heavy.module) == (Documented, "shelf_under_test.heavy")
    assert heavy.needs == "The library no_such_library is not installed: pip install 'bowerbird[heavy]'."


def test_a_library_that_is_missing_for_an_undocumented_kind_is_a_mistake_of_the_installation(shelf: Shelf) -> None:
    with pytest.raises(ConfigError, match="The library no_such_library is not installed"):
        shelf.kind("stranger")


def test_a_defect_of_our_own_is_not_taken_for_a_missing_library(shelf: Shelf) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        shelf.kind("broken")


@pytest.mark.parametrize(
    ("shelf", "name"), [(shelf, name) for shelf in (CHANNELS, PROVIDERS) for name in shelf.documented]
)
def test_every_documented_key_is_known_to_the_module_that_is_built(shelf: Shelf, name: str) -> None:
    kind = shelf.kind(name)
    assert kind is not None
    documented = awaited.CHANNELS.get(name) or awaited.PROVIDERS[name]
    assert set(documented.model_fields) <= set(kind.config.model_fields)
    for key, field in documented.model_fields.items():
        built = kind.config.model_fields[key].get_default(call_default_factory=True)
        wanted = field.get_default(call_default_factory=True)
        assert _plain(built) == _plain(wanted), key


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value).rstrip("/")
