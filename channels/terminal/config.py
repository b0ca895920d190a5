"""The terminal's section of the config."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Config(BaseModel):
    """An empty section switches the channel on: whoever may open the control socket is the owner."""

    model_config = ConfigDict(extra="forbid", frozen=True)
