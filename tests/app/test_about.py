"""What is wrong is told in the language of whoever reads it, unless the configuration has settled on one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app.about import About
from bot.app.faults import ModelFaults
from bot.core.errors import KeyRefused, StoreBusy, StoreDamaged, StoreError, StoreFull, StoreReadOnly
from bot.core.model import ModelRef
from bot.store.repair import Loss
from tests.fakes.clock import FakeClock

CLOUD, LOCAL = ModelRef("anthropic", "claude"), ModelRef("local", "auto")
FAILED = {"state": "failed", "name": "", "reason": "The path of the local provider names a folder."}


def about(language: str = "auto", chain: tuple[ModelRef, ...] = (CLOUD, LOCAL), state: str = "absent") -> About:
    return About(
        name="Bowerbird",
        clock=FakeClock(),
        channels={},
        chain=lambda: list(chain),
        local=lambda: {**FAILED, "state": state},
        live=lambda: (0, 0),
        data_dir=Path("/srv/bird"),
        language=language,
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StoreFull("The disk is full."), "磁盘已满"),
        (StoreBusy("Another program holds it."), "其他程序正占用"),
        (StoreReadOnly("It cannot be written."), "不可写"),
        (StoreDamaged("It is damaged."), "已损坏"),
        (StoreError("It failed."), "存储出错"),
    ],
)
def test_trouble_with_the_store_is_told_to_each_reader_in_their_language(error: StoreError, words: str) -> None:
    told = about()
    told.trouble = error
    assert told()["troubles"]["en"] == told()["trouble"] == str(error)
    assert words in told()["troubles"]["zh"] and "/srv/bird" in told()["troubles"]["zh"]


def test_everything_that_is_wrong_is_told_at_once() -> None:
    told = about(state="failed")
    faults = ModelFaults(told.clock, "UTC")
    faults.met(CLOUD, KeyRefused("x"))
    told.trouble, told.faults = StoreFull("The disk is full."), faults.sentences
    told.loss, told.stale = Loss(Path("aside"), 3, ("usage",)), lambda: ("telegram",)
    for language, words in (
        ("en", ("disk is full", "has been replaced", "(usage)", "its key", "telegram gives no sign", "names a folder")),
        ("zh", ("磁盘已满", "现已替换", "（usage）", "当前密钥", "telegram 没有响应", "备用模型无法工作")),
    ):
        assert all(word in told()["troubles"][language] for word in words)


@pytest.mark.parametrize(("language", "word"), [("en", "The disk"), ("zh", "磁盘")])
def test_a_language_that_was_settled_on_is_used_for_all(language: str, word: str) -> None:
    told = about(language)
    told.trouble = StoreFull("The disk is full.")
    assert all(word in sentence for sentence in (told()["trouble"], *told()["troubles"].values()))


def test_a_local_model_that_is_the_first_tells_its_own_state_and_one_that_is_off_tells_nothing() -> None:
    assert about(state="failed")()["trouble"].endswith("names a folder.")
    assert about(state="failed")()["model"]["state"] == "ready"
    first = about(chain=(LOCAL,), state="failed")()
    assert (first["trouble"], first["model"]["state"]) == ("", "failed")
    assert about(chain=(CLOUD,), state="failed")()["trouble"] == ""
