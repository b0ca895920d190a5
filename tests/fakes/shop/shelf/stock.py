"""Twenty-five subjects with eight deeds each: real tools that say what they were asked to do."""

from __future__ import annotations

from typing import Final, Literal

from bot.core.tool import ToolContext
from bot.tools.registry import FunctionTool, tool

SUBJECTS: Final = {
    "weather": "the weather forecast of a place: rain, wind, temperature",
    "flight": "flights between two airports, with their fares",
    "train": "train connections and platform numbers",
    "hotel": "hotel rooms in a city",
    "restaurant": "tables in restaurants and their menus",
    "recipe": "cooking recipes and their ingredients",
    "pantry": "what is in the kitchen cupboard and the fridge",
    "invoice": "invoices to customers and what is owed",
    "budget": "household spending by category",
    "share": "share prices and a stock portfolio",
    "garden": "plants in the garden and when they are watered",
    "lamp": "the lamps of the house: brightness and colour",
    "heating": "the heating of each room",
    "music": "songs, albums and playlists on the loudspeakers",
    "film": "films in the cinemas nearby",
    "library": "books on loan from the public library",
    "football": "football matches, tables and line-ups",
    "gym": "workouts, sets and repetitions",
    "pill": "medicines, doses and refills",
    "vet": "vaccinations and appointments of pets",
    "parcel": "parcels on their way and where they are",
    "ticket": "support tickets of the help desk",
    "server": "servers, their load and their disks",
    "repository": "source code repositories, branches and pull requests",
    "calendar": "appointments and who is invited to them",
}
DEEDS: Final = {
    "list": "List",
    "search": "Search",
    "add": "Add to",
    "remove": "Remove from",
    "change": "Change",
    "compare": "Compare",
    "export": "Write a table of",
    "watch": "Be told when something changes in",
}
ARGUMENTS: Final = """\
what: which one, in the person's own words
place: a town, an address or a room; empty for where the person is
since: the first day that counts, as 2026-11-30; empty for today
until: the last day that counts, as 2026-12-24; empty for no end
most: how many lines the answer may have
language: of the answer"""

HINT: Final = "Give the town or the room where that matters, and the days if not only today counts."


def _made(subject: str, about: str, deed: str, does: str) -> FunctionTool:
    async def function(
        what: str,
        place: str = "",
        since: str = "",
        until: str = "",
        most: int = 20,
        language: Literal["en", "zh"] = "en",
        *,
        context: ToolContext,
    ) -> str:
        return f"{subject} {deed}: {what}"

    function.__name__ = f"{subject}_{deed}"
    function.__doc__ = f"{does} {about}. {HINT}\n\n{ARGUMENTS}"
    return tool()(function)


TOOLS: Final = {
    made.spec.name: made
    for made in (
        _made(subject, about, deed, does) for subject, about in SUBJECTS.items() for deed, does in DEEDS.items()
    )
}
globals().update(TOOLS)
