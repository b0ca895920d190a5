"""What the commands of one call share: the configuration they were pointed at, and what must stay out of logs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli import logs
from bot.config.redact import Redactor

if TYPE_CHECKING:
    from bot.config.loaded import Config


def config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="the configuration (default: ./config.yaml, then your own)"
    )


class Session:
    """``file`` is what ``--config`` said, None when it was not given."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._config: Config | None = None
        self._redactor = Redactor()

    def config(self) -> Config:
        """Read once. Raises ``ConfigError``."""
        if self._config is None:
            from bot.config.load import load

            self._config = load(self._file, os.environ)
            self._redactor.learn(self._config.secrets())
        return self._config

    def log_to_stderr(self, usual: str) -> None:
        logs.to_stderr(os.environ, usual, self._redactor)

    def log_to_file(self, name: str) -> None:
        """Into the data folder."""
        logs.to_file(self.config().data_dir / name, os.environ, "info", self._redactor)

    def keep_details(self, error: BaseException, reference: str) -> Path | None:
        """Where the details of an unexpected error went: the data folder, or what XDG calls the state folder."""
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "bowerbird"
        folders = [self._config.data_dir, state] if self._config else [state]
        return logs.keep_details(error, reference, folders, self._redactor)
