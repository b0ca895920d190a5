"""The tools of this configuration, and what of the outside world makes them ask."""

from __future__ import annotations

from bot.brain.taint import Taint, Trusted
from bot.brain.toolbox.box import Toolbox
from bot.config.loaded import Config
from bot.core.ports import Embedder
from bot.tools.registry import find_tools
from bot.tools.web import WebSettings, web_tools


def toolbox_of(config: Config, embedder: Embedder | None) -> Toolbox:
    """Our own tools, and those of the web as far as its libraries are installed."""
    tools = find_tools() | web_tools(WebSettings(**config.tools.web.model_dump()))
    return Toolbox(tools.values(), embedder, config.data_dir)


def taint_of(config: Config) -> Taint:
    return Taint([Trusted(one.source, one.for_) for one in config.tools.trusted_sources])
