"""Which tools a conversation's prompts have."""

from __future__ import annotations

from typing import Any

import pytest

from bot.brain.toolbox.box import ALWAYS, BATCH, FEW, LEAST_TOKENS, TOKENS, Toolbox
from bot.brain.toolbox.finder import NAME as FINDER
from bot.brain.toolbox.joined import MOST_JOINED
from bot.brain.toolbox.shown import spec_tokens
from bot.core.tool import ToolSpec
from bot.tools.registry import find_tools
from tests.brain.toolbox.shop import STOCK, box
from tests.fakes.embedder import FakeEmbedder

TRAINS = "Search the train connections and platform numbers to Hamburg."
SONGS = "Which songs and playlists can the loudspeakers play?"
HERE_ALWAYS = (FINDER, *(name for name in ALWAYS if name in STOCK))


class Giant:
    """Implements ``bot.core.ports.Tool`` with a schema of some ten thousand tokens."""

    def __init__(self, number: int) -> None:
        fields = {f"field{n}": {"type": "string", "description": "a long story, " * 30} for n in range(80)}
        self.spec = ToolSpec(f"giant{number}", "Does much. " * 99, {"type": "object", "properties": fields})

    def check(self, args: Any) -> str:
        return ""

    async def run(self, args: Any, context: Any) -> Any:
        raise NotImplementedError


async def hot(one: Toolbox, text: str, joined: tuple[str, ...] = (), **more: Any) -> tuple[str, ...]:
    facts: dict[str, Any] = {"intent": "", "used": {}, "allowed": ()}
    return await one.hot(text, joined=joined, **(facts | more))


async def test_with_few_tools_every_prompt_has_them_all_as_they_are_and_nothing_is_reckoned() -> None:
    embedder = FakeEmbedder("train")
    few = tuple(STOCK.values())[:FEW]
    one = box(few, embedder)
    await one.warm()
    assert await hot(one, TRAINS) == ()
    specs = one.specs((), 128_000)
    assert len(specs) == FEW and all(shown is tool.spec for shown, tool in zip(specs, few, strict=True))
    assert FINDER not in one.tools and embedder.asked == []
    assert one.lasting(FEW) is None


def test_the_house_s_own_tools_are_few() -> None:
    assert len(find_tools()) <= FEW


async def test_with_many_a_prompt_has_those_that_are_always_there_and_ten_that_fit() -> None:
    one = box()
    assert [spec.name for spec in one.specs((), 128_000)] == [*HERE_ALWAYS]
    joined = await hot(one, TRAINS)
    assert joined[0] == "train_search" and len(joined) == MOST_JOINED
    specs = one.specs(joined, 128_000)
    assert [spec.name for spec in specs] == [*HERE_ALWAYS, *joined]
    assert sum(map(spec_tokens, specs)) <= TOKENS


@pytest.mark.parametrize("window", [4_096, 8_192, 40_000, 1_000_000])
async def test_the_definitions_stay_within_their_share_of_the_window(window: int) -> None:
    one = box([*STOCK.values(), *map(Giant, range(200))])
    joined = tuple(f"giant{number}" for number in range(10))
    specs = one.specs(joined, window)
    assert sum(map(spec_tokens, specs)) <= min(TOKENS, max(LEAST_TOKENS, window // 4))
    assert [spec.name for spec in specs][: len(HERE_ALWAYS)] == [*HERE_ALWAYS]
    assert specs[-1].name == joined[-1], "what came last stays"
    assert len(specs) == len(HERE_ALWAYS) + 10 or window < 8_192


async def test_what_has_joined_stays_while_nothing_else_is_wanted() -> None:
    one = box()
    joined = await hot(one, TRAINS)
    for said in ("thanks!", "And the other one?", "Tell me of the moons of Jupiter.", TRAINS):
        assert await hot(one, said, joined) == joined


async def test_what_is_wanted_and_not_there_comes_with_a_batch_behind_those_that_stay() -> None:
    one = box()
    joined = await hot(one, TRAINS)
    later = await hot(one, SONGS, joined, used={joined[-1]: 7})
    assert later[: MOST_JOINED - BATCH - 1] == joined[: MOST_JOINED - BATCH - 1]
    assert joined[-1] in later, "what was called stays"
    assert len(later) == MOST_JOINED and sum(name.startswith("music_") for name in later) >= BATCH - 1
    assert one.lasting(len(HERE_ALWAYS) + MOST_JOINED) == len(HERE_ALWAYS) + MOST_JOINED - BATCH


async def test_a_skill_an_intent_and_a_call_bring_their_tools_whatever_is_said() -> None:
    one = box()
    assert (
        await hot(one, "thanks!", allowed=("parcel_*", "Bash(git:*)"))
        == tuple(name for name in STOCK if name.startswith("parcel_"))[:5]
    )
    assert await hot(one, "thanks!", used={"vet_list": 3, "now": 4}) == ("vet_list",)
    with_memory = box([*STOCK.values(), *(Renamed(name) for name in ("memory_search", "memory_forget"))])
    assert await hot(with_memory, "and?", intent="recall") == ("memory_search", "memory_forget")


class Renamed(Giant):
    def __init__(self, name: str) -> None:
        self.spec = ToolSpec(name, "", {"type": "object", "properties": {}})


async def test_where_a_change_costs_nothing_what_was_never_called_goes_for_what_is_spoken_of() -> None:
    one = box()
    joined = await hot(one, TRAINS)
    assert await hot(one, "thanks!", joined, used={joined[3]: 9}, anew=True) == joined
    later = await hot(one, SONGS, joined, used={joined[3]: 9}, anew=True)
    assert later[0] == joined[3] and not set(later[1:6]) & set(joined) and len(later) == MOST_JOINED


async def test_only_what_may_join_does_and_what_is_gone_leaves() -> None:
    one = box()
    assert await hot(one, TRAINS, only={"train_list", "now"}) == ("train_list",)
    assert await hot(one, "thanks!", ("train_list", "of_yesterday")) == ("train_list",)


async def test_nothing_is_unreachable() -> None:
    one = box()
    for name, tool in STOCK.items():
        if name not in HERE_ALWAYS:
            said = f"{name.replace('_', ' ')}: {tool.spec.description}"
            assert name in [spec.name for spec in await one.find(said, 8)]
    assert await one.find("zzz qqq", 8) == []


def test_two_tools_of_one_name_are_refused() -> None:
    tools = list(find_tools().values())
    with pytest.raises(ValueError, match="two tools are named 'now'"):
        box([*tools, tools[0] if tools[0].spec.name == "now" else find_tools()["now"]])
    with pytest.raises(ValueError, match="find_tools"):
        box([Renamed(FINDER)])
