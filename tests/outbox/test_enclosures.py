"""The files of an answer: after its text, each once, also over a restart, or a sentence in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

import pytest

from bot.core.address import Address
from bot.core.errors import (
    ChannelError,
    ChannelUnreachable,
    ChatClosed,
    FileUnreadable,
    FormatRefused,
    RateLimited,
    TooLong,
)
from bot.core.events import Enclosed, Resumed
from bot.core.view import Limits, OutFile, Ref
from bot.outbox.publisher import Publisher
from tests.fakes.channel import HERE, Fault
from tests.outbox.stage import TURN, Stage

CHART = OutFile("chart.png", "image/png", "/data/files/aa/1")
TABLE = OutFile("table_[1].csv", "text/csv", "/data/files/bb/2")
UNSENT = "I could not send you “chart.png” here: this platform does not take it."


class FileStage(Stage):
    """A stage whose channel sends files. ``file_fault`` is what such a call meets, by its number."""

    def __init__(
        self,
        file_fault: Callable[[int], Exception | None] = lambda number: None,
        *,
        language: str = "en",
        together: Callable[[Sequence[str]], Exception | None] | None = None,
        **options: object,
    ) -> None:
        """``together``: what a call with these files meets, where the channel sends several in one."""
        self.bad = ""
        self.language, self.together, self.groups = language, together, list[list[str]]()
        super().__init__(**options)  # type: ignore[arg-type]
        self.channel.file_fault = file_fault

    def new_publisher(self) -> Publisher:
        return Publisher(
            *(self.channel, self.governor, self.ledger, self.clock, HERE, TURN, self.language),
            send_file=self.channel.send_file,
            send_files=self.send_files if self.together is not None else None,
            jitter=lambda: 0.5,
        )

    async def send_files(self, to: Address, files: Sequence[tuple[OutFile, str]]) -> Sequence[Ref | ChannelError]:
        assert self.together is not None
        self.groups.append([file.name for file, _ in files])
        if (fault := self.together(self.groups[-1])) is not None:
            raise fault
        good = [Ref(nonce) for _, nonce in takewhile(lambda one: one[0].name != self.bad, files)]
        return good if len(good) == len(files) else [*good, TooLong("no")]

    @property
    def sent(self) -> list[str]:
        return [file.name for file, _ in self.channel.sent]


async def answered(stage: FileStage, seconds: float = 20.0) -> None:
    """The whole turn: text, two files, the end."""
    async with stage.running():
        stage.say("Here are your files.")
        stage.emit(Enclosed((CHART,)), Enclosed((TABLE,)))
        await stage.clock.advance(5)
        assert stage.channel.sent == []
        stage.end()
        await stage.clock.advance(seconds)


async def test_files_follow_the_final_text_in_their_order() -> None:
    stage = FileStage()
    await answered(stage)
    assert (stage.channel.texts, stage.sent) == (["Here are your files."], ["chart.png", "table_[1].csv"])
    assert [nonce for _, nonce in stage.channel.sent] == [f"{TURN}.f0", f"{TURN}.f1"]
    assert stage.result() == "delivered" and stage.channel.violations == []


async def test_files_alone_are_an_answer() -> None:
    stage = FileStage()
    async with stage.running():
        stage.emit(Enclosed((CHART,)))
        stage.end()
        await stage.clock.advance(5)
    assert (stage.channel.texts, stage.sent, stage.result()) == ([], ["chart.png"], "delivered")


async def test_a_file_that_comes_while_the_text_stands_costs_no_edit() -> None:
    stage = FileStage()
    await answered(stage)
    edits = [call for call in stage.channel.calls if call.action == "edit"]
    assert len(edits) == 1 and edits[0].part is not None and edits[0].part.final


async def test_a_refused_file_becomes_a_sentence_in_its_place() -> None:
    stage = FileStage(lambda number: ChannelError("no") if number == 0 else None)
    await answered(stage)
    assert stage.channel.texts == ["Here are your files.", UNSENT] and stage.sent == ["chart.png", "table_[1].csv"]
    assert stage.result() == "delivered"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TooLong("no"), "I could not send you “chart.png” here: it is larger than this platform allows."),
        (FileUnreadable("no"), "I could not send you “chart.png”: the file is gone, or there is nothing in it."),
        (FormatRefused("no"), "I could not send you “chart.png” here: this platform takes no files of that kind."),
        (ChannelError("no"), UNSENT),
    ],
)
async def test_the_sentence_says_why_a_file_was_not_sent(error: ChannelError, said: str) -> None:
    stage = FileStage(lambda number: error if number == 0 else None)
    await answered(stage)
    assert stage.channel.texts == ["Here are your files.", said]
    chinese = FileStage(lambda number: error if number == 0 else None, language="zh")
    await answered(chinese)
    assert "无法" in chinese.channel.texts[1] and "chart.png" in chinese.channel.texts[1]


async def test_a_channel_without_files_says_so() -> None:
    stage = Stage()
    async with stage.running():
        stage.say("Look:")
        stage.emit(Enclosed((TABLE,)))
        stage.end()
        await stage.clock.advance(10)
    assert stage.channel.texts == [
        "Look:",
        r"I could not send you “table\_\[1].csv” here: this platform does not take it.",
    ]


async def test_a_structured_channel_lists_them_by_itself() -> None:
    stage = FileStage(limits=Limits(10_000, structured=True))
    await answered(stage)
    assert stage.sent == [] and len(stage.channel.messages) == 1
    [message] = stage.channel.messages.values()
    assert message.part.view.files == (CHART, TABLE)


async def test_a_flood_wait_and_a_lost_connection_only_delay_a_file() -> None:
    faults = [RateLimited("wait", 30.0), ChannelUnreachable("gone", maybe_done=False)]
    stage = FileStage(lambda number: faults[number] if number < len(faults) else None)
    await answered(stage, 120)
    assert stage.sent == ["chart.png"] * 3 + ["table_[1].csv"] and stage.result() == "delivered"


async def test_where_the_chat_is_closed_nothing_more_is_tried() -> None:
    stage = FileStage(lambda number: ChatClosed("closed"))
    await answered(stage)
    assert stage.sent == ["chart.png"] and stage.result() == "chat_closed"


async def test_even_the_sentence_may_be_refused() -> None:
    stage = FileStage(lambda number: TooLong("no"))
    async with stage.running():
        stage.emit(Enclosed((CHART,)))
        stage.end()
        stage.channel.fault = lambda number: Fault(ChannelError("no"))
        await stage.clock.advance(10)
    assert stage.result() == "refused"


@pytest.mark.parametrize("sent", [0, 1, 2])
async def test_after_a_restart_only_the_files_that_were_not_sent_follow(sent: int) -> None:
    blocked = [True]
    stage = FileStage(
        lambda number: ChannelUnreachable("gone", maybe_done=False) if blocked[0] and number >= sent else None
    )
    await answered(stage)
    before = len(stage.sent)
    blocked[0] = False
    stage.restart()
    await again(stage)
    assert stage.sent[before:] == ["chart.png", "table_[1].csv"][sent:]
    assert stage.channel.texts == ["Here are your files."] and stage.result() == "delivered"


async def test_a_file_whose_sending_was_not_answered_goes_again_under_its_nonce() -> None:
    stage = FileStage()
    await stage.ledger.intend(TURN, -2, 0, "")
    await answered(stage)
    assert [nonce for _, nonce in stage.channel.sent] == [f"{TURN}.f0", f"{TURN}.f1"]
    stage.restart()
    await again(stage)
    assert len(stage.sent) == 2 and stage.result() == "delivered"


async def again(stage: FileStage) -> None:
    async with stage.running():
        stage.emit(Resumed("Here are your files.", files=(CHART, TABLE)))
        stage.end()
        await stage.clock.advance(200)


async def test_a_process_that_ends_sends_no_file_on_its_way_out() -> None:
    stage = FileStage(lambda number: ChannelUnreachable("gone", maybe_done=False))
    await answered(stage, 1)
    tried = len(stage.sent)
    await stage.publisher.close("I am restarting.")
    assert len(stage.sent) == tried


# several in one message


async def test_where_the_platform_knows_it_the_files_are_one_message_and_not_sent_again() -> None:
    stage = FileStage(together=lambda names: None)
    await answered(stage)
    stage.restart()
    await again(stage)
    assert stage.groups == [["chart.png", "table_[1].csv"]] and stage.sent == []
    assert stage.result() == "delivered" and stage.channel.texts == ["Here are your files."]


async def test_refused_together_each_goes_by_itself_and_one_has_its_sentence() -> None:
    stage = FileStage(lambda number: TooLong("no") if number == 0 else None, together=lambda names: TooLong("no"))
    await answered(stage)
    assert stage.groups == [["chart.png", "table_[1].csv"]] and stage.sent == ["chart.png", "table_[1].csv"]
    assert "larger than" in stage.channel.texts[1] and stage.result() == "delivered"


async def test_one_that_cannot_go_along_has_its_sentence_in_its_place_and_the_others_go_together() -> None:
    stage = FileStage(together=lambda names: None)
    stage.bad = "2.csv"
    async with stage.running():
        stage.emit(Enclosed(tuple(OutFile(f"{number}.csv", "text/csv", f"/f/{number}") for number in range(5))))
        stage.end()
        await stage.clock.advance(20)
    assert stage.groups == [["0.csv", "1.csv", "2.csv", "3.csv", "4.csv"], ["3.csv", "4.csv"]] and stage.sent == []
    assert ["larger than" in text for text in stage.channel.texts] == [True] and stage.result() == "delivered"


async def test_files_that_were_perhaps_sent_together_go_one_by_one_under_their_nonces() -> None:
    stage = FileStage(together=lambda names: ChannelUnreachable("gone", maybe_done=True))
    await answered(stage)
    assert len(stage.groups) == 1 and [nonce for _, nonce in stage.channel.sent] == [f"{TURN}.f0", f"{TURN}.f1"]
    assert stage.result() == "delivered"


async def test_a_connection_that_is_gone_only_delays_them() -> None:
    faults = [RateLimited("wait", 30.0), ChannelUnreachable("gone", maybe_done=False)]
    stage = FileStage(together=lambda names: faults.pop() if faults else None)
    await answered(stage, 120)
    assert len(stage.groups) == 3 and stage.sent == [] and stage.result() == "delivered"


async def test_more_than_ten_files_are_several_messages() -> None:
    stage = FileStage(together=lambda names: None)
    async with stage.running():
        stage.emit(Enclosed(tuple(OutFile(f"{number}.csv", "text/csv", f"/f/{number}") for number in range(12))))
        stage.end()
        await stage.clock.advance(20)
    assert [len(group) for group in stage.groups] == [10, 2] and stage.result() == "delivered"
