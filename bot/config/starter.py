"""The first configuration: the files that come with Bowerbird, and the few questions of ``bowerbird init``."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from bot.config.packaged import packaged
from bot.core.errors import BowerbirdError

Tell = Callable[[str], None]

SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "init_language": {
        "en": "Language of the bot's own sentences (auto, en, zh)",
        "zh": "机器人自身提示语的语言（auto、en、zh）",
    },
    "init_name": {"en": "What is the assistant called?", "zh": "助手叫什么名字？"},
    "init_provider": {
        "en": "Which models? anthropic, openai, ollama, or local (the small model on this machine)",
        "zh": "使用哪种模型？anthropic、openai、ollama，或 local（本机自带的小模型）",
    },
    "init_key": {"en": "API key for {provider} (empty: later)", "zh": "{provider} 的 API 密钥（留空则以后再填）"},
    "init_telegram": {
        "en": "Telegram bot token from @BotFather (empty: no Telegram)",
        "zh": "从 @BotFather 得到的 Telegram 机器人令牌（留空则不用 Telegram）",
    },
    "init_again": {"en": "That is not one of: {choices}.", "zh": "只能是：{choices}。"},
    "init_token_shape": {
        "en": "A Telegram token looks like 123456:ABC…; this one does not.",
        "zh": "Telegram 令牌形如 123456:ABC…，您输入的不是。",
    },
    "init_replace": {"en": "{file} exists. Replace it? (y/N)", "zh": "{file} 已存在，要替换吗？(y/N)"},
    "init_kept": {"en": "kept     {file}", "zh": "保留  {file}"},
    "init_wrote": {"en": "written  {file}", "zh": "写入  {file}"},
    "init_next": {"en": "What to do next:", "zh": "接下来："},
    "init_next_check": {
        "en": "  bowerbird doctor{config}   says what is still missing",
        "zh": "  bowerbird doctor{config}   检查还缺什么",
    },
    "init_next_run": {
        "en": "  bowerbird run{config}      starts the assistant; then open http://127.0.0.1:8717/",
        "zh": "  bowerbird run{config}      启动助手，然后打开 http://127.0.0.1:8717/",
    },
    "init_next_pair": {
        "en": "  Write to your bot on Telegram; it answers with a code for: bowerbird pair approve CODE",
        "zh": "  在 Telegram 上给机器人发消息，它会回复一个代码：bowerbird pair approve 代码",
    },
    "init_next_key": {"en": "  Put {variable}=… into {file}", "zh": "  把 {variable}=… 写进 {file}"},
}

LANGUAGES: Final = ("auto", "en", "zh")
MODELS: Final[Mapping[str, str]] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-5.4-mini",
    "ollama": "llama3.2",
    "local": "auto",
}
_TELEGRAM_TOKEN: Final = re.compile(r"\d{3,}:[A-Za-z0-9_-]{20,}")
_TRIES: Final = 3
ENV_COMMENT: Final = "# NAME=value, one a line; config.yaml reads them as ${NAME}"
_PLAIN_VALUE: Final = re.compile(r"[A-Za-z0-9_./:@%+=-]*")


class Ask(Protocol):
    """Put a question to the person. An empty answer means ``default``. ``secret`` answers are not echoed."""

    def __call__(self, question: str, *, default: str = "", secret: bool = False) -> str: ...


@dataclass(frozen=True, slots=True)
class Answers:
    """``provider`` "" leaves the models to their defaults. ``key`` and ``telegram_token`` go to ``.env`` alone."""

    language: str = "auto"
    name: str = "Bowerbird"
    provider: str = ""
    key: str = ""
    telegram_token: str = ""

    @property
    def variables(self) -> dict[str, str]:
        given = {f"{self.provider.upper()}_API_KEY": self.key, "TELEGRAM_BOT_TOKEN": self.telegram_token}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class Draft:
    file: Path
    text: str
    mode: int = 0o644


def init(folder: Path, ask: Ask | None, tell: Tell) -> list[Path]:
    """Write config.yaml, SOUL.md and .env into ``folder``; returns what was written. Existing files are replaced only
    when the person says so. ``ask`` None: nobody to ask, so the defaults are taken and existing files are kept.

    Every question comes before the first write. Raises ``BowerbirdError`` when the folder cannot be read or written.
    """
    answers = _answers(ask, tell) if ask else Answers()
    try:
        drafts = _drafts(folder, answers, ask)
        folder.mkdir(parents=True, exist_ok=True)
        for draft in drafts:
            write_atomically(draft.file, draft.text, draft.mode)
    except OSError as error:
        raise BowerbirdError(f"{folder}: cannot be written: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BowerbirdError(f"{folder / '.env'}: is not UTF-8 text; move it away first") from None
    written = [draft.file for draft in drafts]
    for name in ("config.yaml", "SOUL.md", ".env"):
        tell(_say("init_wrote" if folder / name in written else "init_kept", answers, file=folder / name))
    _tell_next_steps(folder, answers, tell)
    return written


def _drafts(folder: Path, answers: Answers, ask: Ask | None) -> list[Draft]:
    """What is to be written, after asking about everything that is there already."""
    drafts = [
        Draft(file, text)
        for file, text in ((folder / "config.yaml", config_text(answers)), (folder / "SOUL.md", packaged("SOUL.md")))
        if not file.exists() or _agreed(file, ask, answers)
    ]
    env = _env_text(folder / ".env", answers, ask)
    return drafts if env is None else [*drafts, Draft(folder / ".env", env, 0o600)]


def _say(key: str, answers: Answers, **values: object) -> str:
    language = "zh" if answers.language == "zh" else "en"
    return SENTENCES[key][language].format(**values)


def _answers(ask: Ask, tell: Tell) -> Answers:
    answers = Answers()
    language = _choice(ask, tell, answers, "init_language", LANGUAGES, "auto")
    answers = Answers(language=language)
    name = " ".join(ask(_say("init_name", answers), default="Bowerbird").split())[:64] or "Bowerbird"
    provider = _choice(ask, tell, answers, "init_provider", tuple(MODELS), "local")
    key = ""
    if provider in ("anthropic", "openai"):
        key = ask(_say("init_key", answers, provider=provider), secret=True).strip()
    return Answers(language, name, provider, key, _telegram_token(ask, tell, answers))


def _choice(ask: Ask, tell: Tell, answers: Answers, question: str, choices: tuple[str, ...], default: str) -> str:
    for _ in range(_TRIES):
        answer = ask(_say(question, answers), default=default).strip().lower() or default
        if answer in choices:
            return answer
        tell(_say("init_again", answers, choices=", ".join(choices)))
    return default


def _telegram_token(ask: Ask, tell: Tell, answers: Answers) -> str:
    for _ in range(_TRIES):
        token = ask(_say("init_telegram", answers), secret=True).strip()
        if not token or _TELEGRAM_TOKEN.fullmatch(token):
            return token
        tell(_say("init_token_shape", answers))
    return ""


def config_text(answers: Answers) -> str:
    """A short ``config.yaml`` for these answers. Everything that is not in it has its default."""
    lines = [
        "# Bowerbird. What is not written here has its default; unknown keys are errors, so a typing mistake is told.",
        "# Secrets stay in .env beside this file. Check with `bowerbird doctor`.",
        "",
        f"name: {json.dumps(answers.name, ensure_ascii=False)}",
        "soul: SOUL.md            # who the assistant is",
        f"language: {answers.language}           # of the bot's own sentences: auto | en | zh",
        "",
        "channels:",
        "  web:                   # http://127.0.0.1:8717/",
        '    token: "${BOWERBIRD_WEB_TOKEN:-}"   # needed as soon as others can reach the page',
        "  terminal: {}           # bowerbird chat",
        "  telegram:              # off while the token is empty",
        '    token: "${TELEGRAM_BOT_TOKEN:-}"',
        "    access:",
        "      owners: []         # your numeric id; empty: the first person you pair becomes the owner",
        '      users: []          # who else may talk; "*" = anyone',
        "",
        "providers:               # a provider without its key is skipped",
        '  anthropic: {api_key: "${ANTHROPIC_API_KEY:-}"}',
        '  openai: {api_key: "${OPENAI_API_KEY:-}"}',
    ]
    if answers.provider:
        lines += [
            "",
            "brain:",
            "  llm:",
            f"    default: {{provider: {answers.provider}, model: {MODELS[answers.provider]}}}",
            "    fallback: []         # tried in order; the small local model always comes last",
        ]
    return "\n".join(lines) + "\n"


def _agreed(thing: object, ask: Ask | None, answers: Answers) -> bool:
    """Whether what is there may be replaced. Without anybody to ask, nothing is."""
    if ask is None:
        return False
    return ask(_say("init_replace", answers, file=thing), default="n").strip().lower() in ("y", "yes", "是", "好")


def _env_text(file: Path, answers: Answers, ask: Ask | None) -> str | None:
    """``.env`` with the answers; None when it stays as it is. Other lines stay, and variables that may not be replaced."""
    old = file.read_text(encoding="utf-8").splitlines() if file.exists() else [ENV_COMMENT]
    lines = list(old)
    for name, value in answers.variables.items():
        same = [number for number, line in enumerate(lines) if re.match(rf"\s*(export\s+)?{name}\s*=", line)]
        if not same or _agreed(name, ask, answers):
            lines = [line for number, line in enumerate(lines) if number not in same] + [f"{name}={_env_value(value)}"]
    return None if file.exists() and lines == old else "".join(f"{line}\n" for line in lines)


def _env_value(value: str) -> str:
    if _PLAIN_VALUE.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write_atomically(file: Path, text: str, mode: int) -> None:
    """Replace ``file`` in one step; at no moment is there half a file, or one that others can read when ``mode`` says no."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _tell_next_steps(folder: Path, answers: Answers, tell: Tell) -> None:
    config = "" if folder == Path(".") else f" --config {folder / 'config.yaml'}"
    tell("")
    tell(_say("init_next", answers))
    if answers.provider in ("anthropic", "openai") and not answers.key:
        tell(_say("init_next_key", answers, variable=f"{answers.provider.upper()}_API_KEY", file=folder / ".env"))
    tell(_say("init_next_check", answers, config=config))
    tell(_say("init_next_run", answers, config=config))
    if answers.telegram_token:
        tell(_say("init_next_pair", answers))
