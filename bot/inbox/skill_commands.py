"""``/skills`` and ``/skill NAME``: what the assistant knows how to do, and one of it for this conversation."""

from __future__ import annotations

from typing import Final

from bot.brain.skills.active import Skills
from bot.brain.skills.skill import Skill
from bot.brain.toolbox.joined import joined_in
from bot.brain.turn import Turn
from bot.core.text import clipped
from bot.core.texts import say
from bot.core.transcript import Body, JoinedRow, ReplyRow
from bot.store.transcript import TranscriptRows

LISTED: Final = 40
LOOK_BACK_ROWS: Final = 400
_ABOUT_CHARS: Final = 110


class SkillCommands:
    def __init__(self, skills: Skills, transcript: TranscriptRows) -> None:
        self._skills, self._transcript = skills, transcript

    async def list(self, turn: Turn, wish: str, *, owner: bool) -> str:
        """Those a person can call, ``wish`` narrowing them; an owner also reads which folders are none."""
        found = await self._skills.shelf.look()
        named = [skill for _, skill in sorted(found.items()) if skill.by_person and wish.strip().lower() in skill.name]
        lines = [_line(skill, turn.language) for skill in named[:LISTED]]
        if len(named) > LISTED:
            lines.append(say("skills_more", turn.language, count=len(named) - LISTED))
        refused = [f"- {refusal}" for refusal in self._skills.shelf.refusals] if owner else []
        if refused:
            lines += ["", say("skills_refused", turn.language), *refused[:LISTED]]
        if not lines:
            return say("skills_none", turn.language)
        return "\n".join((say("skills_head", turn.language), "", *lines, "", say("skills_how", turn.language)))

    async def pick(self, turn: Turn, name: str) -> tuple[Body, ...]:
        """The skill joins the conversation, or why it cannot."""
        await self._skills.shelf.look()
        skill = self._skills.find(name)
        if skill is None:
            return (ReplyRow(say("skill_unknown", turn.language, name=clipped(name, 60).replace("`", ""))),)
        if missing := skill.needs.missing():
            return (ReplyRow(say("skill_lacks", turn.language, name=skill.name, missing=", ".join(missing))),)
        past = await self._transcript.rows(turn.address, LOOK_BACK_ROWS)
        joined = await self._skills.join(f"/skill {skill.name}", joined_in(past))
        told = ReplyRow(
            say("skill_joined", turn.language, name=skill.name, about=clipped(skill.description, _ABOUT_CHARS))
        )
        return (told,) if joined is None else (told, JoinedRow(joined.skills, joined.tools, joined.new))


def _line(skill: Skill, language: str) -> str:
    missing = skill.needs.missing()
    lacks = f" ({say('skill_needs', language, missing=', '.join(missing))})" if missing else ""
    return f"- `{skill.name}`: {clipped(skill.description, _ABOUT_CHARS)}{lacks}"
