"""``bowerbird service``: Bowerbird as a service of systemd."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bot.cli.session import Session, config_option

if TYPE_CHECKING:
    from bot.app.units import Plan
    from bot.config.loaded import Config

DETAILS = """\
install    write the unit file and print what to do next; nothing is started
uninstall  take it out again, once it is disabled

Without --user it is a service of the whole machine (needs root): it runs as whoever owns the configuration file, and
where that is root, under an account of its own. A unit that was changed by hand is replaced only with --force.
"""

SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "service_written": {"en": "written    {file}", "zh": "已写入  {file}"},
    "service_same": {"en": "unchanged  {file}", "zh": "无变化  {file}"},
    "service_removed": {"en": "removed    {file}", "zh": "已移除  {file}"},
    "service_next": {"en": "What to do next:", "zh": "接下来："},
    "service_secret": {
        "en": "  put the secret into {file} (owner root, mode 0600)",
        "zh": "  把密钥写进 {file}（所有者 root，权限 0600）",
    },
    "service_linger": {
        "en": "  loginctl enable-linger              keeps it running while you are logged out",
        "zh": "  loginctl enable-linger              退出登录后仍保持运行",
    },
}

STAND_IN: Final = "1000000000:StandsInForASecretThatIsNotHereYet0"
"""Of the shape of every secret that the configuration looks at more closely."""
_CREDENTIAL: Final = re.compile(r"\$\{CREDENTIALS_DIRECTORY(?::-[^}]*)?\}/(?P<name>[A-Za-z0-9_.-]+)")


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    install = actions.add_parser("install", help="write the unit file")
    config_option(install)
    install.add_argument("--dry-run", action="store_true", help="print the unit instead of writing it")
    uninstall = actions.add_parser("uninstall", help="take the unit file out again")
    for action in (install, uninstall):
        action.add_argument("--user", action="store_true", help="your own service (systemctl --user), without root")
        action.add_argument("--force", action="store_true", help="also where the unit was changed by hand")


def run(args: argparse.Namespace, session: Session) -> int:
    from bot.app import units

    if args.action == "uninstall":
        file = _place(args.user)
        units.remove(file, force=args.force)
        _say("service_removed", file=file)
        print(f"  {_systemctl(args.user)} daemon-reload")
        return 0
    return _install(_config(args.config), user=args.user, dry_run=args.dry_run, force=args.force)


def _install(config: Config, *, user: bool, dry_run: bool, force: bool) -> int:
    from bot.app import units
    from bot.core.errors import BowerbirdError

    plan = _plan(config, user=user)
    objections = list(_objections(plan, config))
    if dry_run:
        print(plan.unit(), end="")
        for objection in objections:
            print(f"bowerbird: {objection}", file=sys.stderr)
        return 0
    file = _place(user)
    if objections:
        raise BowerbirdError(objections[0])
    if plan.account is not None and plan.account.name:
        units.make_folders(plan.account, plan.writable)
    written = units.write(file, plan.unit(), force=force)
    _say("service_written" if written else "service_same", file=file)
    _tell_next_steps(plan)
    return 0


def _config(asked: Path | None) -> Config:
    """The configuration as the service will read it, with something in the place of every credential that it will get.

    Raises ``ConfigError``.
    """
    from bot.config.load import load
    from bot.config.sources import locate
    from bot.core.errors import ConfigError

    found = locate(asked, os.environ, Path.cwd())
    if found is None:
        raise ConfigError("a service needs a configuration file; `bowerbird init` writes one", file="config.yaml")
    with tempfile.TemporaryDirectory(prefix="bowerbird-") as folder:
        for name in _credentials(found):
            (Path(folder) / name).write_text(STAND_IN)
        return load(found, {**os.environ, "CREDENTIALS_DIRECTORY": folder})


def _credentials(file: Path) -> list[str]:
    """The names of the credentials that a configuration file refers to."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []  # the loader says what is wrong with the file
    return sorted({match["name"] for match in _CREDENTIAL.finditer(text)})


def _plan(config: Config, *, user: bool) -> Plan:
    """Raises ``BowerbirdError`` for what cannot work."""
    from bot.app.units import Account, Plan
    from bot.core.errors import BowerbirdError

    assert config.file is not None
    command, folder = _program()
    command += ["run", "--config", str(config.file)]
    credentials = _credentials(config.file)
    if user:
        if credentials:
            raise BowerbirdError(
                "${CREDENTIALS_DIRECTORY} is for the machine's service: use .env or a path in your home"
            )
        return Plan(command, None, folder=folder)
    account, writable = Account.of(config.file), list(_writable(config))
    in_home = _in_home(config, [Path(command[0]), Path(sys.base_prefix), *writable])
    return Plan(command, account, writable, credentials, in_home, folder)


def _program() -> tuple[list[str], str]:
    """How this Bowerbird is started, and in which folder ("" for any)."""
    script = Path(sys.executable).with_name("bowerbird")
    if script.exists():
        return [str(script)], ""
    return [sys.executable, "-m", "bot"], str(Path(__file__).parents[2])


def _writable(config: Config) -> Iterator[Path]:
    yield config.data_dir
    yield config.tools.files.root
    local = config.providers.get("local")
    models: Path | None = getattr(local.config, "models_dir", None) if local is not None and local.on else None
    if models is not None:
        yield models


def _in_home(config: Config, paths: list[Path]) -> bool:
    from bot.app.units import HOMES

    paths = [*paths, config.base, config.soul, *config.skills, *config.memory.knowledge]
    return any(path.is_relative_to(home) for path in paths for home in HOMES)


def _objections(plan: Plan, config: Config) -> Iterator[str]:
    """Why the service could not start: what its account cannot read, and where it cannot write."""
    from bot.app.units import STATE_FOLDER

    account = plan.account
    if account is None:
        return
    who = account.name or "an account of its own"
    advice = "move it, or give the configuration file to the account that the service should run as (chown)"
    for path in _needed(plan, config):
        if path.exists() and not account.reaches(path):
            yield f"the service runs as {who}, which cannot read {path}: {advice}"
    for path in plan.writable:
        if not account.name and not path.is_relative_to(STATE_FOLDER):
            yield f"the service runs as {who}, which can only write below {STATE_FOLDER}, not {path}: {advice}"


def _needed(plan: Plan, config: Config) -> list[Path]:
    """What the service reads to start."""
    files = [config.file] if config.file else []
    return [Path(plan.command[0]), Path(sys.base_prefix), *files, config.base / ".env"]


def _place(user: bool) -> Path:
    """The unit file. Raises ``BowerbirdError`` where there is no systemd to read it, or no right to write it."""
    from bot.app.units import NAME
    from bot.core.errors import BowerbirdError

    if user:
        runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
        if not (runtime / "systemd").is_dir():
            raise BowerbirdError("no systemd runs for you here (there is none, or you came by su or sudo)")
        return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user" / NAME
    if not Path("/run/systemd/system").is_dir():
        raise BowerbirdError("this machine was not started by systemd; `bowerbird run` works under any service manager")
    if os.geteuid() != 0:
        raise BowerbirdError("a service of the whole machine needs root: use sudo, or --user for a service of your own")
    return Path("/etc/systemd/system") / NAME


def _tell_next_steps(plan: Plan) -> None:
    from bot.app.units import CREDENTIALS

    systemctl = _systemctl(plan.account is None)
    _say("service_next")
    for name in plan.credentials:
        if not (CREDENTIALS / f"bowerbird.{name}").exists():
            _say("service_secret", file=CREDENTIALS / f"bowerbird.{name}")
    print(f"  {systemctl} daemon-reload")
    print(f"  {systemctl} enable --now bowerbird")
    if plan.account is None:
        _say("service_linger")


def _systemctl(user: bool) -> str:
    return "systemctl --user" if user else "systemctl"


def _say(key: str, **values: object) -> None:
    from bot.cli.language import language_of

    words = SENTENCES[key]
    print(words.get(language_of(os.environ), words["en"]).format(**values))
