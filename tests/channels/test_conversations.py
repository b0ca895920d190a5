"""One scripted conversation on every platform: what is read there is what the model said, once, and no rule is broken."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.channels.rooms import ROOM_PARAMS, ROOMS
from tests.channels.stages import AGAIN, STAGES, STOP, Stage, eventually, free_port, living
from tests.channels.telegram.texts import LONG
from tests.sim.llm import LlmSim, When, answer, call, gate, status, text


@dataclass
class Scene:
    """One platform with the daemon behind it."""

    name: str
    stage: Stage
    llm: LlmSim
    folder: Path

    async def reads(self, *texts: str) -> None:
        """Ann reads exactly this, and nothing more follows."""
        await eventually(lambda: list(self.stage.texts) == list(texts))
        await eventually(lambda: not self.stage.labels)
        await asyncio.sleep(0.3)
        assert list(self.stage.texts) == list(texts)


@pytest.fixture(params=[*STAGES, *ROOM_PARAMS])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    name, port = request.param, free_port()
    opened = STAGES[name](port) if name in STAGES else ROOMS[name]()
    async with LlmSim() as llm, opened as stage:
        async with living(stage, llm, tmp_path, port):
            yield Scene(name, stage, llm, tmp_path)
        assert stage.violations == [] or stage.violations == ()
        assert llm.violations == []


async def test_a_plain_answer(scene: Scene) -> None:
    scene.llm.script(answer(text("Hello "), text("**Ann**, how are "), text("you?")))
    await scene.stage.say("hello")
    await scene.reads("Hello Ann, how are you?")


async def test_an_answer_that_grows_can_be_stopped_and_keeps_its_text(scene: Scene) -> None:
    scene.llm.script(answer(text("This is going to be a very long answer. "), gate("never"), text("No.")))
    await scene.stage.say("go")
    await eventually(lambda: "Stop" in scene.stage.labels)
    assert "a very long answer." in scene.stage.texts[-1]
    await scene.stage.press("Stop")
    await eventually(lambda: any("Stopped." in shown for shown in scene.stage.texts))
    await eventually(lambda: STOP not in scene.stage.labels)
    assert [shown for shown in scene.stage.texts if "very long answer" in shown] == [
        "This is going to be a very long answer.\n\nStopped."
    ]


async def test_a_tool_asks_in_the_same_message_and_runs_once_when_it_may(scene: Scene) -> None:
    scene.llm.script(
        answer(text("I note it."), call("c1", "note_write", ('{"text": "milk"}',))),
        answer(text("It is noted."), when=When(tool_result=True)),
    )
    await scene.stage.say("note milk")
    await eventually(lambda: "Allow once" in scene.stage.labels)
    assert not (scene.folder / "workspace" / "notes.md").exists()
    await scene.stage.press("Allow once")
    await eventually(lambda: any("It is noted." in shown for shown in scene.stage.texts))
    await eventually(lambda: not scene.stage.labels)
    assert (scene.folder / "workspace" / "notes.md").read_text().count("milk") == 1
    joined = "\n".join(scene.stage.texts)
    assert joined.count("I note it.") == 1 and joined.count("It is noted.") == 1


async def test_a_message_during_a_turn_joins_it(scene: Scene) -> None:
    scene.llm.script(
        answer(text("Let me look at the clock. "), gate("g"), call("c1", "now", ("{}",))),
        answer(text("It is late, and yes, in Rome as well.")),
    )
    await scene.stage.say("what time is it?")
    await scene.llm.at("g")
    await scene.stage.say("in Rome too?")
    await asyncio.sleep(0.3)
    scene.llm.release("g")
    await eventually(lambda: any("in Rome as well." in shown for shown in scene.stage.texts))
    await eventually(lambda: not scene.stage.labels)
    assert "\n".join(scene.stage.texts).count("in Rome as well.") == 1
    assert len(scene.llm.requests) == 2 and "in Rome too?" in str(scene.llm.requests[-1].body)


async def test_a_changed_question_gets_the_answer_to_what_it_reads_now(scene: Scene) -> None:
    if scene.name == "web":
        pytest.skip("what was sent on the page cannot be changed there")
    scene.llm.script(
        answer(text("Paris has more museums than anybody could count, and "), gate("never"), text("No.")),
        answer(text("Rome has more.")),
    )
    said = await scene.stage.say("tell me of Paris")
    await eventually(lambda: any("museums" in shown for shown in scene.stage.texts))
    await scene.stage.edit(said, "tell me of Rome")
    await scene.reads("Rome has more.")
    assert "of Rome" in str(scene.llm.requests[-1].body) and "Paris" not in str(scene.llm.requests[-1].body)


async def test_the_last_message_is_answered_once_more_in_a_new_one(scene: Scene) -> None:
    scene.llm.script(answer(text("A poor answer.")), answer(text("A better answer.")))
    await scene.stage.say("what is the sea?")
    await scene.reads("A poor answer.")
    await scene.stage.say("/retry")
    await scene.reads("A poor answer.", "A better answer.")


async def test_a_model_that_cannot_answer_is_a_sentence_not_a_silence(scene: Scene) -> None:
    scene.llm.script(answer(status(401), repeat=True))
    await scene.stage.say("hello")
    await eventually(lambda: any(scene.stage.texts) and STOP not in scene.stage.labels, 25)
    shown = "\n".join(scene.stage.texts)
    assert "key" in shown.lower(), shown
    assert " 401" not in shown and "sk-test" not in shown and "Traceback" not in shown


async def test_an_answer_that_ended_badly_is_tried_again_by_its_button_once(scene: Scene) -> None:
    scene.llm.script(
        answer(text("The sea is a large body of water, and "), gate("never"), text("No.")),
        answer(text("The sea is salty.")),
    )
    await scene.stage.say("what is the sea?")
    await eventually(lambda: STOP in scene.stage.labels)
    await scene.stage.press(STOP)
    await eventually(lambda: AGAIN in scene.stage.labels)
    await scene.stage.press(AGAIN)
    await scene.stage.press(AGAIN)
    await eventually(lambda: "The sea is salty." in scene.stage.texts)
    await asyncio.sleep(0.5)
    assert list(scene.stage.texts).count("The sea is salty.") == 1 and len(scene.llm.requests) == 2
    assert str(scene.llm.requests[-1].body["messages"]).count("what is the sea?") == 1


async def test_once_a_newer_answer_stands_nothing_offers_to_try_the_older_one_again(scene: Scene) -> None:
    if scene.name.startswith("telegram-"):
        pytest.skip("in its first minute a group there is told nothing that can wait: tests/outbox/test_leftovers.py")
    scene.llm.script(
        answer(text("The sea is a large body of water, and "), gate("never"), text("No.")),
        answer(text("The sky is blue.")),
    )
    await scene.stage.say("what is the sea?")
    await eventually(lambda: STOP in scene.stage.labels)
    await scene.stage.press(STOP)
    await eventually(lambda: AGAIN in scene.stage.labels)
    before = [shown for shown in scene.stage.texts if "body of water" in shown]
    await scene.stage.say("and the sky?")
    await eventually(lambda: "The sky is blue." in scene.stage.texts)
    await eventually(lambda: AGAIN not in scene.stage.labels)
    assert [shown for shown in scene.stage.texts if "body of water" in shown] == before, "its words stay"


@pytest.mark.timeout(90)
@pytest.mark.parametrize(
    "scene", [*STAGES, *(pytest.param(name, marks=pytest.mark.prove) for name in ROOMS)], indirect=True
)
async def test_an_answer_of_twenty_thousand_characters_comes_whole(scene: Scene) -> None:
    assert len(LONG) > 20_000
    scene.llm.script(answer(*(text(LONG[at : at + 50]) for at in range(0, len(LONG), 50)), tokens_per_second=500))
    await scene.stage.say("tell me everything")
    await eventually(lambda: "x ** 21" in "".join(scene.stage.texts), 60)
    await eventually(lambda: not scene.stage.labels)
    shown = "\n".join(scene.stage.texts)
    for n in range(22):
        for once in (f"Chapter {n}\n", f"第{n}项", f"quoted {n} مرحبا", f"def f{n}(x)"):
            assert shown.count(once) == 1, once
    assert shown.count("plain words go on") == 22 * 40
    assert _said(shown) == _said(LONG), "every character that is no markup, in its order, and nothing else"


def _said(text: str) -> str:
    """What a text says, however it is dressed: without the marks of Markdown, the numbers of lists, which a platform may set
    by itself, what stands for them, and spaces."""
    text = re.sub(r"(?m)^\s*\d+\. ", "", text.replace("```python", ""))
    return re.sub(r"[^\w👩\u200d👧^(){}:/]|_", "", text)
