"""What keeps the daemon from working well, in sentences for its owner, in the language of whoever reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot.core.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from bot.core.texts import say
from bot.store.repair import Loss

LANGUAGES: Final = ("en", "zh")
_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "hangs": {
        "en": "The channel {channel} gives no sign of life and is being started again.",
        "zh": "渠道 {channel} 没有响应，正在重新启动。",
    },
    "local": {
        "en": "The model on this machine, which answers when the others cannot, does not work: {reason}",
        "zh": "本机上的备用模型无法工作：{reason}",
    },
}
_STORE: Final[Mapping[type[StoreError], str]] = {
    StoreFull: "{folder} 所在的磁盘已满：请释放一些空间；已确认的内容不会丢失。",
    StoreBusy: "其他程序正占用 {folder} 中的存储文件：请关闭该程序或稍候，我会继续尝试。",
    StoreReadOnly: "{folder} 中的存储文件不可写：请授予运行 Bowerbird 的用户对该文件夹的写入权限。",
    StoreDamaged: "{folder} 中的存储文件已损坏：请停止并重新启动 Bowerbird，它会把该文件移开并尽量挽救数据。",
    StoreError: "{folder} 中的存储出错，详情见日志。",
}
"""In Chinese; in English each error speaks for itself."""


def store_sentence(error: StoreError | None, language: str, folder: Path) -> str:
    """Why nothing can be stored; "" while everything can."""
    if error is None or language != "zh":
        return str(error or "")
    return _STORE.get(type(error), _STORE[StoreError]).format(folder=folder)


def loss_sentence(loss: Loss | None, language: str) -> str:
    """What a damaged store cost; "" for a sound one. It is told until the next start."""
    if loss is None:
        return ""
    if loss.aside is None:
        return say("store_gone", language)
    told = say("store_damaged", language, saved=loss.saved, aside=loss.aside)
    cut = say("store_damaged_cut", language, tables=", ".join(loss.tables_cut)) if loss.tables_cut else ""
    return f"{told} {cut}".strip()


def hangs_sentence(channel: str, language: str) -> str:
    return _told("hangs", language, channel=channel)


def local_sentence(reason: str, language: str) -> str:
    """``reason`` is the provider's own and in English, as in the log."""
    return _told("local", language, reason=reason)


def _told(key: str, language: str, **values: object) -> str:
    return _WORDS[key][language].format(**values)
